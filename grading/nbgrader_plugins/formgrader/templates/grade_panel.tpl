<style>
{% include "tokens.css" %}
:root { color-scheme: light; } /* nbgrader's pages are white */
#grade-new { color: var(--text); background: var(--box); border: 1px solid var(--line); border-radius: var(--radius);
  box-shadow: none; }
#grade-new [hidden] { display: none; } /* nbgrader's buttons say otherwise */
#grade-new .btn { border-radius: var(--radius); border-color: var(--line); color: var(--text); background: var(--page); }
#grade-new .btn-primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
#grade-new .btn:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
#grade-new-bar { accent-color: var(--accent); margin: 0 1em; width: 20em; max-width: 100%; }
#grade-new :is(ul, pre) { margin-top: 1em; }
</style>
<div class="panel panel-default" id="grade-new">
  <div class="panel-body">
    <button type="button" class="btn btn-primary" id="grade-new-start">Grade all that is new</button>
    <button type="button" class="btn btn-default" id="grade-new-stop" hidden>Stop</button>
    <progress id="grade-new-bar" aria-label="graded" hidden></progress>
    <span role="status" id="grade-new-says">
      {%- if lesson %} What is new or has changed in {{ lesson | e }}.{% else %} What is new or has changed, in every lesson.{% endif -%}
    </span>
    <ul id="grade-new-failed" hidden></ul>
    <pre id="grade-new-said" hidden></pre>
  </div>
</div>
<script>
(() => {
  const part = name => document.getElementById("grade-new" + name);
  const lesson = {{ lesson | tojson }};
  let watched = false;

  async function ask(method, body) {
    const xsrf = (document.cookie.match(/\b_xsrf=([^;]*)/) || [])[1] || "";
    const answer = await fetch(base_url + "/grading/api/grade", {
      method, body: body && JSON.stringify(body), headers: {"X-XSRFToken": xsrf}, credentials: "same-origin",
    });
    if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
    return answer.json();
  }

  function inWords(now) {
    if (now.running && !now.planned) return "Looking for what is new …";
    const graded = `${now.graded} of ${now.planned} graded`;
    if (now.running) return `${graded} …`;
    if (now.said) return "It ended before its time:";
    return now.planned ? `${graded}. Load this page again to see the points.` : "Nothing is new: every grade stands.";
  }

  function show(now) {
    part("-start").disabled = now.running;
    part("-stop").hidden = !now.running;
    part("-bar").hidden = !now.running;
    if (now.planned) {
      part("-bar").max = now.planned;
      part("-bar").value = now.graded + now.failed.length;
    } else {
      part("-bar").removeAttribute("value");
    }
    part("-says").textContent = inWords(now);
    part("-failed").hidden = !now.failed.length;
    part("-failed").replaceChildren(...now.failed.map(one => {
      const item = document.createElement("li");
      item.textContent = `${one.lesson}${one.student && ", "}${one.student}: ${one.why}`;
      return item;
    }));
    part("-said").hidden = !now.said;
    part("-said").textContent = now.said;
  }

  async function act(method, body) {
    try {
      const now = await ask(method, body);
      if (method !== "GET" || now.running || watched) show(now);
      watched = now.running;
      if (now.running) setTimeout(() => act("GET"), 500);
    } catch (error) {
      part("-says").textContent = `Not known how it stands: ${error.message}.`;
    }
  }

  part("-start").onclick = () => act("POST", lesson ? {lesson} : {});
  part("-stop").onclick = () => act("DELETE");
  act("GET");
})();
</script>

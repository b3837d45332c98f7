// The review page. Students' content is set as text; only what a judge has rendered and cleaned, and the lesson's
// own texts, come as HTML, in which the page's policy lets no script run. Every write says which state of an answer this page showed (`seen`), so that nothing is
// overwritten that nobody here has read.
"use strict";

const POLL = 2500; // milliseconds between looks at what others did
const IDLE = 1500; // milliseconds without a key after which a comment is saved
const MOST_KEPT_ALIVE = 20_000; // characters of a request that outlives its page, of which browsers allow few
const MOST_CONFLICTS = 5; // that are listed one by one
const by = id => document.getElementById(id);
const page =
  stored("page") ||
  remember("page", Array.from(crypto.getRandomValues(new Uint8Array(12)), n => n.toString(16)).join(""));

const state = {
  overview: null,
  question: null,
  group: "",
  member: "",
  names: true,
  texts: new Map(),
  draft: null,
  last: "",
  work: Promise.resolve(),
  moves: 0,
  rubric: null,
  html: new Map(),
  asWritten: false,
};

// requests

function stored(name) {
  return sessionStorage.getItem(name) || "";
}
function remember(name, value) {
  sessionStorage.setItem(name, value);
  return value;
}

function takeToken() {
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  if (token) {
    remember("token", token);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
}

class Refused extends Error {
  constructor(status, body) {
    super(body.message || "the server failed");
    this.status = status;
    this.answers = body.answers || [];
  }
}

async function ask(what, parameters, body) {
  const headers = {Authorization: `token ${stored("token")}`};
  const address = `/api/${what}?${new URLSearchParams(parameters || {})}`;
  const options = {headers};
  if (body) {
    options.method = "POST";
    headers["Content-Type"] = "application/json";
    options.body = JSON.stringify({...body, page});
    options.keepalive = options.body.length < MOST_KEPT_ALIVE; // a comment is saved as the page is closed
  }
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw new Refused(0, {message: "the server does not answer: is `grading review` still running?"});
  }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, found);
  return found;
}

// One after the other, so that each write knows what the one before it left.
function inTurn(job) {
  state.work = state.work.then(job).catch(problem);
  return state.work;
}

// What is pressed after a move is for the answer that it leads to, also while it waits for its turn.
function moveInTurn(job) {
  state.moves += 1;
  return inTurn(job).finally(() => {
    state.moves -= 1;
  });
}

function problem(error) {
  if (!(error instanceof Refused)) {
    console.error(error);
    say("Not done: this page has a fault. Load it again.");
    return;
  }
  if (!error.status) {
    state.last = "";
    notice(`Not saved: ${error.message}`);
    return;
  } // drawn again when it answers
  if (error.status === 403)
    notice("This page needs the address that `grading review` printed, with its token. Open it from the terminal.");
  else say(`Not done: ${error.message}.`);
}

// small things

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties || {});
  element.append(...children);
  return element;
}

const number = value => String(Math.round(value * 10000) / 10000).replace("-", "−");
const signed = value => (value > 0 ? "+" : "") + number(value);
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const fill = (list, rows) => {
  list.replaceChildren(...rows);
};

// A button that is replaced between press and release gets no click: keep the rows that are the same
function fillWhatDiffers(list, rows) {
  rows.forEach((row, place) => {
    const old = list.children[place];
    if (!old) list.append(row);
    else if (!old.isEqualNode(row)) old.replaceWith(row);
  });
  while (list.children.length > rows.length) list.lastElementChild.remove();
}
let quieten;
function say(text) {
  by("status").textContent = text;
  clearTimeout(quieten);
  quieten = setTimeout(() => {
    by("status").textContent = "";
  }, 6000);
}
function notice(text, ...extra) {
  by("notice").hidden = !text;
  by("notice").replaceChildren(text || "", ...extra);
}

// Empty while another question is on its way: an answer that comes in between then belongs to nothing.
const groups = () => state.question?.groups || [];
const group = () => groups().find(one => one.id === state.group) || null;
const member = () => group() && (group().members.find(one => one.id === state.member) || group().members[0]);
const waits = one => one.members.some(m => m.waiting);
const given = m => `${m.points} ${m.adjust} ${m.items.join()}`;
const same = (a, b) => given(a) === given(b);
function lead(one) {
  // the member whose points stand for the group: what most of those that are graded have
  const graded = one.members.filter(m => m.points !== null);
  const counts = new Map();
  for (const m of graded) counts.set(given(m), (counts.get(given(m)) || 0) + 1);
  return graded.reduce(
    (best, m) => (counts.get(given(m)) > counts.get(given(best)) ? m : best),
    graded[0] || one.members[0],
  );
}
const seen = members => Object.fromEntries(members.map(m => [m.id, m.seen]));
const called = m => (m.name ? `${m.name} (${m.student})` : m.student || m.label);
const total = m => (m.points === null ? m.auto : m.points);

// loading

async function loadOverview() {
  const found = await ask("overview");
  const first = !state.overview;
  state.overview = found;
  if (first) {
    state.names = stored("names") ? stored("names") === "1" : found.names;
    by("names").checked = state.names;
    document.title = `${found.lesson}: grade by hand`;
    by("lesson").textContent = found.lesson;
  }
  drawQuestions();
  return found;
}

async function loadQuestion(key) {
  const found = await ask("question", {key, names: state.names ? "1" : "0"});
  const text = JSON.stringify(found);
  if (text === state.last) return;
  const before = state.question;
  state.last = text;
  state.question = found;
  if (before && before.key === key) tellOfOthers(before, found);
  if (!group()) {
    const holder = groups().find(one => one.members.some(m => m.id === state.member));
    const next = holder || groups().find(waits) || groups()[0];
    state.group = next ? next.id : "";
    state.member = holder ? state.member : "";
  }
  const row = state.overview.questions.find(one => one.key === key);
  Object.assign(row, {done: found.done, total: found.total});
  drawQuestions();
  draw();
}

const mine = new Map(); // answer -> its stamp after this page's own write
function tellOfOthers(before, now) {
  const known = new Map(before.groups.flatMap(one => one.members).map(m => [m.id, m.seen]));
  const others = now.groups
    .flatMap(one => one.members)
    .filter(m => known.has(m.id) && known.get(m.id) !== m.seen && mine.get(m.id) !== m.seen);
  if (others.length === 1) say(`${changer(others[0])}: ${called(others[0])} has ${standing(others[0])} now.`);
  if (others.length > 1) say(`${changer(others[0])}: ${plural(others.length, "answer")} changed.`);
}
const changer = m => (m.by && !m.elsewhere ? m.by : "Elsewhere");
const standing = m => (total(m) === null ? "no points" : plural(total(m), "point").replace(/^\S+/, number(total(m))));

async function openQuestion(key, last) {
  await saveDraft();
  state.group = state.member = "";
  state.question = null;
  state.last = "";
  remember("key", key);
  await loadQuestion(key);
  if (last && groups().length) choose(groups().at(-1).id);
  by("asked").open = innerWidth > 700;
}

async function refresh() {
  await loadQuestion(state.question.key);
}

async function poll() {
  try {
    if (!document.hidden && state.question)
      await inTurn(async () => {
        await refresh();
        if (Math.random() < 0.25) await loadOverview();
      });
  } finally {
    setTimeout(poll, POLL);
  }
}

// drawing

function drawQuestions() {
  fill(
    by("questions"),
    state.overview.questions.map(one => {
      const open = one.total - one.done;
      const progress = make(
        "span",
        {className: open ? "" : "all"},
        `${one.done} of ${one.total} graded${open ? "" : " ✓"}`,
      );
      const button = make(
        "button",
        {type: "button", onclick: () => moveInTurn(() => openQuestion(one.key))},
        one.title,
        progress,
      );
      if (state.question && one.key === state.question.key) button.setAttribute("aria-current", "true");
      return make("li", {}, button);
    }),
  );
}

function draw() {
  const question = state.question;
  by("names").checked = state.names;
  document.querySelector("main").hidden = !groups().length;
  if (!groups().length) notice("Nobody has handed in an answer to this question yet.");
  else if (question.outdated) {
    const button = make("button", {type: "button", onclick: () => inTurn(bringUpToDate)}, "Compute them again");
    notice(
      `The rubric's file was changed: ${plural(question.outdated, "answer")} got points by what it said before. `,
      button,
    );
  } else notice("");
  drawGroups();
  drawLessonText();
  drawAnswer();
  drawMarking();
}

function drawLessonText() {
  const question = state.question;
  for (const [box, place, html] of [
    ["asked", "text", question.text],
    ["model", "model-text", question.model_answer],
  ]) {
    by(box).hidden = !html;
    if (by(place).dataset.html !== html) {
      by(place).innerHTML = html;
      by(place).dataset.html = html;
    }
  }
}

function drawGroups() {
  const focused = document.activeElement.closest("#groups button")?.dataset.id;
  by("list-title").textContent = `${state.question.done} of ${state.question.total} graded`;
  fillWhatDiffers(
    by("groups"),
    groups().map(one => {
      const first = lead(one),
        size = one.members.length;
      const title = size > 1 ? `${size} like answers` : called(one.members[0]);
      const points = total(first) === null ? "–" : number(total(first));
      const score = make(
        "span",
        {className: waits(one) ? "score waits" : "score"},
        waits(one) ? `${total(first) === null ? "" : points + " "}open` : `${points} ✓`,
      );
      const preview = make(
        "span",
        {className: "preview"},
        one.missing ? "not there" : one.blank ? "no answer" : one.preview || "(spaces only)",
      );
      const button = make(
        "button",
        {type: "button", onclick: () => choose(one.id)},
        make("b", {}, title),
        score,
        preview,
      );
      button.dataset.id = one.id;
      if (one.id === state.group) button.setAttribute("aria-current", "true");
      return make("li", {}, button);
    }),
  );
  const current = by("groups").querySelector("[aria-current]");
  if (current) {
    const box = by("groups"),
      top = current.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top + current.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = top - box.clientHeight / 3;
  }
  if (focused)
    by("groups")
      .querySelector(`[data-id="${CSS.escape(focused)}"]`)
      ?.focus();
}

function drawAnswer() {
  const one = group();
  if (!one) return;
  const shown = member(),
    others = one.members.length - 1;
  by("answer-title").textContent = called(shown) + (others ? `, and ${others} like it` : "");
  by("why").hidden = !shown.why;
  by("why").textContent = shown.why;
  by("together").hidden = !others;
  const differ = one.members.filter(m => !same(m, lead(one)));
  by("mixed").hidden = !differ.length;
  by("mixed").firstElementChild.textContent =
    `${differ.length} of these ${one.members.length} ${differ.length === 1 ? "has" : "have"} other points.`;
  by("alike").querySelector("summary").textContent = `${one.members.length} like answers, graded in one go`;
  fill(
    by("members"),
    one.members.map(m => {
      const show = make(
        "button",
        {
          type: "button",
          className: "quiet",
          onclick: () => {
            state.member = m.id;
            drawAnswer();
          },
        },
        called(m),
      );
      if (m.id === shown.id) show.setAttribute("aria-current", "true");
      const out = make("button", {type: "button", onclick: () => inTurn(() => takeOut(m, true))}, "Take out");
      out.setAttribute("aria-label", `Take ${called(m)} out`);
      const score = make("span", {className: "score"}, m.waiting ? "open" : number(total(m)));
      return make("li", {}, show, score, out);
    }),
  );
  const take = by("take-out");
  take.hidden = !others && !shown.alone;
  take.replaceChildren(
    others ? "Take this one out of the group " : "Put it back with answers like it ",
    make("kbd", {}, "o"),
  );
  drawText(shown, one);
}

// What an answer's text is kept under: the same person can stand alone in several questions.
const textKey = (one, m) => `${state.question.key} ${one.id} ${m.id}`;

async function drawText(shown, one) {
  const key = textKey(one, shown);
  if (by("answer").dataset.key === key) return;
  if (!state.texts.has(key)) {
    by("answer").dataset.key = "";
    const found = await ask("answer", {key: state.question.key, id: shown.id}).catch(problem);
    if (!found) return;
    state.texts.set(key, found);
    if (!member() || textKey(group(), member()) !== key) return;
  }
  const found = state.texts.get(key),
    box = by("answer");
  box.dataset.key = key;
  box.className = found.missing || one.blank ? "nothing" : state.question.code ? "" : "prose";
  box.textContent = found.missing
    ? "The graded notebook is not there, or is not the one that was graded: grade this submission again."
    : one.blank
      ? found.text.trim()
        ? `No answer: the cell is as it was released.\n\n${found.text}`
        : "No answer."
      : found.text;
  by("answer-box").scrollTop = 0;
  drawRendered(key, shown.id, !found.missing && !one.blank && !state.question.code);
  by("cut").hidden = !found.cut;
  by("cut").textContent = `Cut here: the answer has ${found.length.toLocaleString("en")} characters.`;
}

// As written at once, and rendered as soon as the server has it.
async function drawRendered(key, id, possible) {
  const show = () => {
    const html = possible ? state.html.get(key) || "" : "";
    by("as-written").hidden = !html;
    by("as-written").setAttribute("aria-pressed", String(state.asWritten));
    by("rendered").innerHTML = html;
    by("rendered").hidden = !html || state.asWritten;
    by("answer").hidden = !by("rendered").hidden;
  };
  show();
  if (!possible || state.html.has(key)) return;
  const found = await ask("html", {key: state.question.key, id}).catch(() => null);
  if (!found) return;
  state.html.set(key, found.html);
  if (by("answer").dataset.key === key) show();
}

function switchWritten() {
  state.asWritten = !state.asWritten;
  if (member()) drawRendered(by("answer").dataset.key, member().id, true);
}

function drawMarking() {
  const one = group();
  if (!one) return;
  const question = state.question,
    mark = lead(one),
    rubric = question.rubric;
  const points = total(mark),
    open = waits(one);
  by("points").replaceChildren(
    points === null ? "–" : number(points),
    " ",
    make(
      "small",
      {},
      `of ${number(question.points)} ${question.points === 1 ? "point" : "points"}${open ? ", open" : ""}`,
    ),
  );
  by("given").textContent = origin(mark, open);
  const focused = document.activeElement.closest("#items button")?.dataset.id;
  fill(
    by("items"),
    rubric.items.map((item, index) => {
      const used = make("span", {className: "used"}, item.used ? ` × ${item.used}` : "");
      const button = make(
        "button",
        {type: "button", onclick: () => toggle(item.id)},
        make("kbd", {hidden: index > 8}, String(index + 1)),
        make("span", {className: "points"}, signed(item.points)),
        make("span", {}, item.text, used),
      );
      if (index > 8) button.prepend(make("span"));
      button.dataset.id = item.id;
      button.setAttribute("aria-pressed", String(mark.items.includes(item.id)));
      return make("li", {}, button);
    }),
  );
  if (focused)
    by("items")
      .querySelector(`[data-id="${CSS.escape(focused)}"]`)
      ?.focus();
  const base = rubric.from_full ? question.points : 0;
  by("none").lastElementChild.textContent = `No item applies: ${number(base)} ${base === 1 ? "point" : "points"}`;
  by("none").setAttribute("aria-pressed", String(noneApplies(mark)));
  by("adjust-label").textContent = rubric.items.length || rubric.from_full ? "Adjust by" : "Points";
  if (document.activeElement !== by("adjust")) by("adjust").value = mark.adjust ? number(mark.adjust) : "";
  by("comment-part").hidden = !question.comments;
  if (!state.draft) by("comment").value = (group().members.length > 1 ? mark : member()).comment;
  by("edit").firstChild.textContent = rubric.items.length ? "Edit the rubric " : "Make a rubric ";
  by("clear").disabled = mark.points === null;
}

function origin(mark, open) {
  if (mark.points === null) return mark.auto === null ? "" : "by the grader";
  const again = open ? " It was graded again since: Enter keeps the points." : "";
  if (mark.elsewhere) return `given elsewhere, such as in the formgrader.${again}`;
  const when = mark.at ? new Date(mark.at).toLocaleString([], {dateStyle: "short", timeStyle: "short"}) : "";
  return `by ${mark.by}${when ? `, ${when}` : ""}.${again}`;
}

const noneApplies = mark => mark.points !== null && !mark.items.length && !mark.adjust;

// moving

function choose(id) {
  moveInTurn(async () => {
    await saveDraft();
    state.group = id;
    state.member = "";
    draw();
    prefetch();
  });
}

async function prefetch() {
  const next = groups()[groups().findIndex(one => one.id === state.group) + 1];
  if (!next) return;
  const question = state.question,
    id = next.members[0].id,
    key = textKey(next, next.members[0]),
    about = {key: question.key, id};
  for (const [what, known] of [
    ["answer", state.texts],
    ["html", state.html],
  ]) {
    if (known.has(key) || (what === "html" && question.code)) continue;
    const found = await ask(what, about).catch(() => null);
    if (found) known.set(key, what === "html" ? found.html : found);
  }
}

function step(offset) {
  moveInTurn(async () => {
    await saveDraft();
    const to = groups()[groups().findIndex(one => one.id === state.group) + offset];
    if (!to) {
      say(offset > 0 ? "That was the last answer." : "That was the first answer.");
      return;
    }
    state.group = to.id;
    state.member = "";
    draw();
    if (offset > 0) prefetch();
  });
}

function nextOpen() {
  return moveInTurn(async () => {
    await saveDraft();
    const here = groups().findIndex(one => one.id === state.group);
    const order = [...groups().slice(here + 1), ...groups().slice(0, here)];
    const to = order.find(waits);
    if (!to) {
      say(
        waits(group())
          ? "Only this answer waits."
          : "Every answer to this question is graded. ] opens the next question.",
      );
      return;
    }
    state.group = to.id;
    state.member = "";
    draw();
    prefetch();
  });
}

function otherQuestion(offset) {
  moveInTurn(async () => {
    const rows = state.overview.questions;
    const to = rows[rows.findIndex(one => one.key === state.question.key) + offset];
    if (to) {
      await openQuestion(to.key);
      say(to.title);
    } else say(offset > 0 ? "That was the last question." : "That was the first question.");
  });
}

// grading

// members: ids; they are looked up when their turn comes, after earlier writes
async function grade(ids, wanted) {
  const now = groups()
    .flatMap(one => one.members)
    .filter(m => ids.includes(m.id));
  try {
    const done = await ask("grade", {}, {key: state.question.key, seen: seen(now), wanted});
    for (const [id, stamp] of Object.entries(done.answers)) mine.set(id, stamp);
    await refresh();
    return true;
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
    await refresh();
    askWhose(ids, wanted, error.answers);
    return false;
  }
}

const idsOf = one => one.members.map(m => m.id);

function act(wanted) {
  // wanted: from the group's mark to what is to be; null for nothing
  const shown = state.moves ? "" : state.group; // which a look at what others did may change
  return inTurn(async () => {
    await saveDraft();
    const id = shown || state.group;
    const one = groups().find(other => other.id === id);
    const request = one && wanted(lead(one), one);
    if (request && (await grade(idsOf(one), request))) told(id);
  });
}

function told(id) {
  const one = groups().find(other => other.id === id);
  if (one)
    say(
      `${one.members.length > 1 ? plural(one.members.length, "answer") : called(one.members[0])}: ${standing(lead(one))}${waits(one) ? ", open" : ""}.`,
    );
}

function toggle(item) {
  act(mark => {
    const items = mark.items.includes(item) ? mark.items.filter(other => other !== item) : [...mark.items, item];
    return {items, adjust: mark.elsewhere && !mark.items.length ? 0 : mark.adjust};
  });
}

const toggleNone = () => act(mark => ({items: [], adjust: 0, graded: !noneApplies(mark)}));
const clear = () => act(mark => (mark.points === null ? null : {items: [], adjust: 0, graded: false}));
const giveSame = () =>
  act(mark => ({items: mark.items, adjust: mark.adjust, comment: mark.comment, graded: mark.points !== null}));

function adjust() {
  const text = by("adjust").value.trim().replace(",", ".").replace("−", "-"),
    value = text ? Number(text) : 0;
  if (!Number.isFinite(value)) {
    say(`“${text}” is not a number of points.`);
    return;
  }
  act(mark => {
    if (value === mark.adjust && (text === "") === (mark.adjust === 0)) return null;
    return {items: mark.items, adjust: value, graded: text !== "" || mark.items.length > 0};
  });
}

function finish() {
  act((mark, one) => {
    if (!waits(one)) return null;
    if (total(mark) !== null && one.members.every(m => total(m) !== null)) return {accept: true};
    say("Choose an item, or press 0, before it is done.");
    return null;
  }).then(() => {
    if (group() && !waits(group())) nextOpen();
  });
}

async function takeOut(m, alone) {
  const done = await ask("alone", {}, {key: state.question.key, seen: seen([m]), alone});
  for (const [id, stamp] of Object.entries(done.answers)) mine.set(id, stamp);
  state.member = m.id;
  state.group = alone ? `alone-${m.id}` : "";
  await refresh();
  say(alone ? `${called(m)} is graded alone now.` : `${called(m)} is back with answers like it.`);
}

function takeOutShown() {
  inTurn(async () => {
    await saveDraft();
    const one = group(),
      m = member();
    if (one.members.length > 1) await takeOut(m, true);
    else if (m.alone) await takeOut(m, false);
    else say("No other answer is like this one.");
  });
}

async function bringUpToDate() {
  await ask("update", {}, {key: state.question.key});
  await refresh();
  say("Points computed again with the rubric.");
}

async function undo(id) {
  await dropDraft();
  const done = await ask("undo", {}, {step: id === undefined ? null : id});
  if (done.question && done.question !== state.question.key) await openQuestion(done.question);
  state.member = done.answers[0] || state.member;
  const old = state.group;
  await loadQuestion(state.question.key);
  const holder = groups().find(one => one.members.some(m => m.id === state.member));
  if (done.answers.length && holder && holder.id !== old) {
    state.group = holder.id;
    draw();
  }
  say(`Undone: ${done.undone}.`);
}

// comments

let idle;
function typed() {
  const one = group();
  if (!one) return;
  state.draft = {key: state.question.key, ids: idsOf(one), text: by("comment").value};
  clearTimeout(idle);
  idle = setTimeout(() => inTurn(saveDraft), IDLE);
}

async function saveDraft() {
  clearTimeout(idle);
  const draft = state.draft;
  state.draft = null;
  if (draft && state.question && draft.key === state.question.key && (await grade(draft.ids, {comment: draft.text})))
    say("Comment saved.");
}

async function dropDraft() {
  if (state.draft) await saveDraft();
}

async function openBank() {
  if (!state.question.comments) {
    say("This question takes no comments.");
    return;
  }
  const {comments} = await ask("bank", {key: state.question.key});
  const show = () => {
    const wanted = by("filter").value.toLowerCase();
    fill(
      by("bank-list"),
      comments
        .filter(one => one.text.toLowerCase().includes(wanted))
        .map((one, index) => {
          const insert = make(
            "button",
            {type: "button", className: "insert", onclick: () => insertComment(one.text)},
            one.text,
          );
          const drop = make(
            "button",
            {
              type: "button",
              className: "quiet",
              onclick: () =>
                inTurn(async () => {
                  await ask("drop", {}, {key: state.question.key, text: one.text, question: one.question});
                  await openBank();
                }),
            },
            "Delete",
          );
          drop.setAttribute("aria-label", `Delete from the bank: ${one.text.slice(0, 40)}`);
          const key = make("kbd", {hidden: index > 8}, String(index + 1));
          return make(
            "li",
            {},
            key,
            insert,
            make("span", {className: "aside"}, `used ${one.used === 1 ? "once" : `${one.used} times`}`),
            drop,
          );
        }),
    );
    if (!comments.length)
      fill(by("bank-list"), [
        make("li", {className: "aside"}, "Nothing is kept yet. Write a comment, and keep it here."),
      ]);
  };
  by("filter").value = "";
  by("filter").oninput = show;
  by("keep").disabled = !by("comment").value.trim();
  show();
  if (!by("bank").open) by("bank").showModal();
  (by("bank-list").querySelector(".insert") || by("filter")).focus(); // where 1 to 9 insert
}

function insertComment(text) {
  const box = by("comment");
  box.value = box.value.trim() ? `${box.value.trimEnd()}\n${text}` : text;
  by("bank").close();
  typed();
  inTurn(saveDraft);
}

function keepComment() {
  inTurn(async () => {
    await ask("keep", {}, {key: state.question.key, text: by("comment").value, here: by("here-only").checked});
    await openBank();
  });
}

// the rubric

function openRubric() {
  const {rubric} = state.question;
  state.rubric = {stamp: rubric.stamp, digest: null};
  by("rubric-title").textContent = `Rubric of “${state.question.title}”, ${plural(state.question.points, "point")}`;
  by(rubric.from_full ? "from-full" : "from-none").checked = true;
  fill(by("rubric-rows"), rubric.items.map(rubricRow));
  if (!rubric.items.length) addItem();
  changedRubric();
  by("rubric").showModal();
  by("rubric-rows").querySelector("input")?.focus();
}

function rubricRow(item) {
  const points = make("input", {value: item.points === "" ? "" : number(item.points), inputMode: "decimal"});
  points.setAttribute("aria-label", "Points of the item");
  const text = make("textarea", {value: item.text, rows: 1});
  text.setAttribute("aria-label", "Text of the item");
  const row = make("li", {}, points, text);
  row.dataset.id = item.id || "";
  Object.assign(row, {exact: item.points, rounded: points.value}); // the exact number counts unless somebody edits it
  const move = (label, sign, sibling) => {
    const button = make(
      "button",
      {
        type: "button",
        onclick: () => {
          sibling(row);
          changedRubric();
          button.focus();
        },
      },
      sign,
    );
    button.setAttribute("aria-label", label);
    return button;
  };
  row.append(
    move("Move up", "↑", one => one.previousElementSibling?.before(one)),
    move("Move down", "↓", one => one.nextElementSibling?.after(one)),
    move("Delete the item", "✕", one => {
      (one.nextElementSibling || one.previousElementSibling)?.querySelector("input").focus();
      one.remove();
    }),
  );
  return row;
}

function addItem() {
  const row = rubricRow({id: "", text: "", points: ""});
  by("rubric-rows").append(row);
  row.querySelector("input").focus();
  changedRubric();
}

function changedRubric() {
  state.rubric.digest = null;
  by("effect").replaceChildren();
  by("apply").hidden = true;
  by("show-effect").hidden = false;
}

function rubricAsked(expected) {
  const items = [...by("rubric-rows").children].map(row => {
    const input = row.querySelector("input"), typed = (input.value.trim() || "x").replace(",", ".").replace("−", "-");
    const points = input.value && input.value === row.rounded ? row.exact : Number(typed);
    return {id: row.dataset.id, text: row.querySelector("textarea").value, points};
  });
  if (items.some(item => !Number.isFinite(item.points)))
    throw new Refused(400, {message: "an item has no number of points"});
  return {key: state.question.key, stamp: state.rubric.stamp, items, from_full: by("from-full").checked, expected};
}

async function showEffect() {
  try {
    const found = await ask("rubric", {}, rubricAsked(null));
    state.rubric.digest = found.digest;
    const rows = found.changes.map(row =>
      make(
        "li",
        {},
        `${plural(row.answers, "answer")}: ${row.from === null ? "–" : number(row.from)} → ${row.to === null ? "to be graded again" : number(row.to)}`,
      ),
    );
    by("effect").replaceChildren(rows.length ? make("ul", {}, ...rows) : "No points change.");
    by("show-effect").hidden = true;
    by("apply").hidden = false;
    by("apply").focus();
  } catch (error) {
    rubricRefused(error);
  }
}

async function applyRubric() {
  try {
    await ask("rubric", {}, rubricAsked(state.rubric.digest));
    by("rubric").close();
    await refresh();
    say("The rubric is changed.");
  } catch (error) {
    rubricRefused(error);
  }
}

function rubricRefused(error) {
  if (!(error instanceof Refused)) throw error;
  changedRubric();
  by("effect").replaceChildren(
    `Not done: ${error.message}.${error.message.startsWith("somebody") ? " Close this and open it again to see theirs." : ""}`,
  );
}

// steps and conflicts

async function openSteps() {
  const {steps} = await ask("steps", {page});
  fill(
    by("steps-list"),
    steps.map(one => {
      const when = new Date(one.at).toLocaleString([], {dateStyle: "short", timeStyle: "short"});
      const what = make(
        "span",
        {className: one.undone ? "what undone" : "what"},
        [one.question, one.what].filter(Boolean).join(": "),
      );
      const button = make(
        "button",
        {
          type: "button",
          disabled: one.undone,
          onclick: () =>
            inTurn(async () => {
              await undo(one.id);
              await openSteps();
            }),
        },
        one.undone ? "Undone" : "Undo",
      );
      button.setAttribute("aria-label", `${button.textContent}: ${what.textContent}`);
      return make(
        "li",
        {},
        what,
        make("span", {className: "aside"}, `${one.by}${one.mine ? ", here" : ""}, ${when}`),
        button,
      );
    }),
  );
  if (!steps.length) fill(by("steps-list"), [make("li", {className: "aside"}, "Nothing was graded here yet.")]);
  if (!by("steps").open) by("steps").showModal();
}

function describe(m) {
  const texts = state.question.rubric.items.filter(item => m.items.includes(item.id)).map(item => item.text);
  return [standing(m), ...texts, m.adjust ? `adjusted by ${signed(m.adjust)}` : "", m.comment ? `“${m.comment}”` : ""]
    .filter(Boolean)
    .join("; ");
}

function askWhose(ids, wanted, changed) {
  const theirs = groups()
    .flatMap(one => one.members)
    .filter(m => changed.includes(m.id));
  const rows = theirs
    .slice(0, MOST_CONFLICTS)
    .map(m =>
      make(
        "li",
        {},
        make("span", {className: "what"}, `${called(m)}: ${describe(m)}`),
        make("span", {className: "aside"}, changer(m)),
      ),
    );
  if (theirs.length > MOST_CONFLICTS) rows.push(make("li", {}, `and ${theirs.length - MOST_CONFLICTS} more`));
  fill(by("theirs"), rows);
  const chosen = state.question.rubric.items
    .filter(item => (wanted.items || []).includes(item.id))
    .map(item => item.text);
  const parts =
    wanted.comment !== undefined
      ? [`“${wanted.comment}”`]
      : wanted.accept
        ? ["the points as they were"]
        : [...chosen, wanted.adjust ? `adjusted by ${signed(wanted.adjust)}` : ""];
  by("mine").textContent = parts.filter(Boolean).join("; ") || (wanted.graded ? "no item applies" : "no points");
  const rest = ids.filter(id => !changed.includes(id));
  by("keep-theirs").textContent = rest.length ? `Keep theirs, and grade the other ${rest.length}` : "Keep theirs";
  by("keep-theirs").onclick = () => {
    by("conflict").close();
    if (rest.length) inTurn(() => grade(rest, wanted));
  };
  by("use-mine").onclick = () => {
    by("conflict").close();
    inTurn(() => grade(ids, wanted));
  };
  by("conflict").showModal();
}

// keys

const KEYS = {
  j: () => step(1),
  ArrowDown: () => step(1),
  k: () => step(-1),
  ArrowUp: () => step(-1),
  n: nextOpen,
  Enter: finish,
  "]": () => otherQuestion(1),
  "[": () => otherQuestion(-1),
  0: toggleNone,
  x: clear,
  g: giveSame,
  o: takeOutShown,
  a: () => by("adjust").select(),
  c: () => by("comment").focus(),
  b: () => inTurn(openBank),
  e: openRubric,
  m: () => {
    by("model").open = !by("model").open;
  },
  h: () => by("names").click(),
  w: switchWritten,
  u: () => inTurn(() => undo()),
  s: () => inTurn(openSteps),
  "?": () => by("keys").showModal(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = event.target,
    inside = at.closest("dialog[open]"); // one just closed may have the focus for a moment
  if (inside) {
    if (event.key === "Escape") {
      event.preventDefault();
      inside.close();
    } // at once, so that no key is lost
    if (inside.id === "bank" && at !== by("filter") && /^[1-9]$/.test(event.key))
      by("bank-list").querySelectorAll(".insert")[event.key - 1]?.click();
    return;
  }
  if (at.matches("textarea, input:not([type=checkbox])")) {
    if (event.key === "Escape" || (event.key === "Enter" && at === by("adjust"))) {
      event.preventDefault();
      at.blur();
    }
    return;
  }
  if (!groups().length || !by("keys-on").checked) return;
  if (event.key === "Enter" && at.closest("button, summary, a, label")) return;
  if (event.key.startsWith("Arrow") && at === by("answer-box") && at.scrollHeight > at.clientHeight) return; // it scrolls
  const item = /^[1-9]$/.test(event.key) && state.question.rubric.items[event.key - 1];
  if (item) toggle(item.id);
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
}

function listen() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target === by("comment"))
      by("comment").blur();
  });
  by("names").onchange = () =>
    inTurn(async () => {
      state.names = by("names").checked;
      remember("names", state.names ? "1" : "0");
      await refresh();
    });
  by("undo").onclick = () => inTurn(() => undo());
  by("open-steps").onclick = () => inTurn(openSteps);
  by("open-keys").onclick = () => by("keys").showModal();
  by("none").onclick = toggleNone;
  by("adjust").onchange = adjust;
  by("comment").oninput = typed;
  by("comment").onblur = () => inTurn(saveDraft);
  by("open-bank").onclick = () => inTurn(openBank);
  by("keep").onclick = keepComment;
  by("edit").onclick = openRubric;
  by("clear").onclick = clear;
  by("previous").onclick = () => step(-1);
  by("next").onclick = () => step(1);
  by("done").onclick = finish;
  by("same").onclick = giveSame;
  by("take-out").onclick = takeOutShown;
  by("as-written").onclick = switchWritten;
  by("add-item").onclick = addItem;
  by("rubric").oninput = changedRubric;
  by("show-effect").onclick = () => inTurn(showEffect);
  by("apply").onclick = () => inTurn(applyRubric);
  for (const button of document.querySelectorAll("dialog .close"))
    button.onclick = () => button.closest("dialog").close();
  addEventListener("pagehide", () => {
    if (state.draft) saveDraft();
  });
}

async function start() {
  takeToken();
  listen();
  const {questions, first} = await loadOverview();
  const wanted = [stored("key"), first].find(key => questions.some(one => one.key === key)) || (questions[0] || {}).key;
  if (!wanted) {
    notice("There is nothing in this lesson that a person grades.");
    return;
  }
  await openQuestion(wanted);
  poll();
}

start().catch(problem);

// Shows the current state every five seconds, without loading the page again.
setInterval(async () => {
  let told = "The service does not answer. Below is what it said last.";
  try {
    const answer = await fetch("", { cache: "no-store" });
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("numbers").replaceWith(page.getElementById("numbers"));
      const [now, then] = [page.getElementById("state"), document.getElementById("state")];
      if (now.textContent !== then.textContent) then.textContent = now.textContent; // a screen reader reads changes only
      then.className = now.className;
      return;
    }
    told = `The service cannot be reached (${answer.status}). Below is what it said last.`;
  } catch { /* it has stopped, or is restarting */ }
  const state = document.getElementById("state");
  if (state.textContent !== told) state.textContent = told;
  state.className = "state wrong";
}, 5000);

/* Buttons of the course in JupyterLab (4.2 or newer) and Notebook (7.2 or newer).

At each `check(…)` cell of a lesson: Check, Hint, Reset, and Solution once it is open. In the notebook's toolbar:
Progress and Hand in. A button runs the call of its name in the notebook's kernel, so nothing is judged here; the
verdict beside the buttons is read from the output of `check`. The notebook needs none of this, and only Reset changes
what is in it: it puts the unanswered cell back, and keeps the learner's code as comments in a folded cell.

This file is the extension as JupyterLab loads it: a container of webpack's module federation, written by hand at the
end, so that there is nothing to build. */

"use strict";

(() => {
  const NAME = "attention-course";
  const VERDICT = "application/vnd.attention-course.report+json"; // docs/json.md describes it
  const BEGIN = /^begin\(\s*["']\w+["']\s*\)/m;
  const CHECK = /^\s*check\((\w+)\)[ \t]*(#.*)?\s*$/;
  const MARKS = { passes: "☑", "partly right": "◐", wrong: "✗", "not started": "○", "not allowed": "⊘" };
  const WORDS = { wrong: "not right yet" };
  // Before `begin` has run this raises an error, and imports nothing
  const STATE = `__import__("sys").modules["course.notebook.begin"] and \
__import__("course.notebook.buttons", fromlist=["ButtonState"]).ButtonState()`;
  const STYLE = `
    .attn-buttons { color: var(--jp-content-font-color1); font: var(--jp-ui-font-size1)/1.4 var(--jp-ui-font-family);
      margin: 4px 0 4px calc(var(--jp-cell-prompt-width) + var(--jp-cell-collapser-width)); padding: 0 5px; }
    .attn-row { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
    .attn-buttons button { font: inherit; color: inherit; background: var(--jp-layout-color1); cursor: pointer;
      border: 1px solid var(--jp-content-font-color2); border-radius: 3px; padding: 2px 10px; min-height: 24px; }
    .attn-buttons button:hover { background: var(--jp-layout-color2); }
    .attn-buttons button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
    .attn-buttons button[hidden] { display: none; }
    .attn-buttons[aria-busy="true"] button { cursor: progress; }
    .attn-dialog { min-width: min(42em, 80vw); max-width: 60em; max-height: 70vh; overflow: auto; }
    .attn-dialog .jp-OutputArea { overflow: visible; }
    .attn-dialog .jp-OutputArea-output, .attn-buttons .jp-OutputArea-output { padding-left: 0; }`;

  /** The modules of JupyterLab that the extension uses; set when it is activated. */
  let NotebookActions, SimplifiedOutputArea, OutputAreaModel, Dialog, ToolbarButton, Widget, Panel;

  const codeOf = cell => cell.model.sharedModel.getSource();

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /** Throw an error again, unless the kernel was restarted or the output closed while it ran. */
  function unlessCanceled(error) {
    if (!/^Canceled/.test(error?.message)) throw error;
  }

  /** The verdict that `check` left in the output of its cell, or undefined. */
  function verdictOf(cell) {
    const { outputs } = cell.model;
    const found = Array.from({ length: outputs.length }, (_, i) => outputs.get(i).data[VERDICT]);
    return found.filter(Boolean).pop();
  }

  function verdictText({ status, points, most, unit }) {
    const word = WORDS[status] || status;
    const earned = most && status !== "not started" ? `, ${points} of ${most} ${unit}` : "";
    return `${MARKS[status] || "!"} ${word}${earned}`;
  }

  /** The learner's code as comments, with how to take it back. */
  function asComments(name, code) {
    const now = new Date();
    const two = number => String(number).padStart(2, "0");
    const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
    const time = `${two(now.getHours())}:${two(now.getMinutes())}`;
    const lines = code.split("\n").map(line => (line ? `# ${line}` : "#"));
    const about = [
      `# Your ${name} before the reset of ${day}, ${time}. To take it back, copy it into the cell of ${name} and remove`,
      '# the "# " before each line (select the lines, then press Ctrl+/).'
    ];
    return [...about, ...lines].join("\n");
  }

  /** The buttons of one lesson, in one notebook. */
  class Lesson {
    constructor(panel) {
      this.panel = panel;
      this.bars = new Map(); // check cell -> its bar
      this.state = { lesson: null, tasks: {} };
      this.asking = null;
      this.running = false;
      const { content, sessionContext } = panel;
      this.scan = () => this.addBars();
      this.ran = (_, { notebook }) => notebook === content && this.refresh();
      this.restarted = (_, status) => /restarting|starting|dead/.test(status) && this.show({ lesson: null, tasks: {} });
      content.model.cells.changed.connect(this.scan);
      NotebookActions.executed.connect(this.ran);
      sessionContext.statusChanged.connect(this.restarted);
      panel.disposed.connect(() => {
        NotebookActions.executed.disconnect(this.ran);
        sessionContext.statusChanged.disconnect(this.restarted);
      });
      this.addToolbar();
      this.addBars();
      void sessionContext.ready.then(() => this.refresh());
    }

    addToolbar() {
      const buttons = [ // from the right
        ["hand-in", "Hand in", "Save the notebook and make the file to hand in", "hand_in()"],
        ["progress", "Progress", "Check every exercise and show your progress", "progress()"]
      ];
      for (const [id, label, tooltip, call] of buttons) {
        const onClick = () => void this.showInDialog(label, call).catch(unlessCanceled);
        const button = new ToolbarButton({ label, tooltip, onClick });
        this.panel.toolbar.insertItem(10, `${NAME}-${id}`, button); // behind JupyterLab's own
      }
    }

    addBars() {
      for (const cell of this.panel.content.widgets) {
        const name = cell.model.type === "code" && CHECK.exec(codeOf(cell))?.[1];
        if (name && !this.bars.has(cell)) {
          const bar = new Bar(this, cell, name);
          this.bars.set(cell, bar);
          cell.disposed.connect(() => this.bars.delete(cell));
          void cell.ready.then(() => cell.isDisposed || bar.attach());
        }
      }
    }

    /** Run an action of a button, unless another one is running. */
    async once(action) {
      if (this.running) return;
      this.running = true;
      this.bars.forEach(bar => bar.node.setAttribute("aria-busy", "true"));
      try {
        await action();
      } catch (error) {
        unlessCanceled(error);
      } finally {
        this.running = false;
        this.bars.forEach(bar => bar.node.removeAttribute("aria-busy"));
        void this.refresh();
      }
    }

    /** Ask the kernel for the state of the buttons; a request that waits for the kernel stands for all later ones. */
    refresh() {
      this.asking ??= this.ask().finally(() => (this.asking = null));
      return this.asking;
    }

    async ask() {
      const kernel = this.panel.sessionContext.session?.kernel;
      if (!kernel) return this.show({ lesson: null, tasks: {} });
      const content = { code: "", silent: true, store_history: false, user_expressions: { state: STATE } };
      let reply;
      try {
        reply = await kernel.requestExecute(content).done;
      } catch {
        return undefined; // the kernel was restarted: its status says so
      }
      const found = reply?.content.user_expressions?.state;
      if (found) this.show(found.data?.["application/json"] || { lesson: null, tasks: {} });
      return undefined;
    }

    show(state) {
      this.state = state;
      this.bars.forEach(bar => bar.showState());
    }

    run(cells) {
      return NotebookActions.runCells(this.panel.content, cells, this.panel.sessionContext);
    }

    /** Begin the lesson if the kernel has not: run the notebook's cells down to `begin`. Whether it has begun. */
    async begun() {
      await this.refresh();
      if (this.state.lesson) return true;
      const cells = this.panel.content.widgets;
      const last = cells.findIndex(cell => cell.model.type === "code" && BEGIN.test(codeOf(cell)));
      await this.run(cells.slice(0, last + 1).filter(cell => cell.model.type === "code"));
      await this.asking; // a question from before these cells ran
      await this.refresh();
      return Boolean(this.state.lesson);
    }

    /** Run code in the kernel, and show what it shows in a new output area at the end of `parent`. */
    async execute(code, parent) {
      const { content, sessionContext } = this.panel;
      const model = new OutputAreaModel({ trusted: true }); // as in a cell that the learner runs
      const output = new SimplifiedOutputArea({ model, rendermime: content.rendermime });
      parent.addWidget(output);
      await SimplifiedOutputArea.execute(code, output, sessionContext);
    }

    async showInDialog(title, call) {
      const body = new Panel();
      body.addClass("attn-dialog");
      Object.assign(body.node, { tabIndex: 0, role: "region", ariaLabel: title }); // so that the keyboard can scroll it
      const launched = new Dialog({ title, body, buttons: [Dialog.okButton({ label: "Close" })] }).launch();
      if (await this.begun()) {
        if (call === "hand_in()") await this.panel.context.save();
        const name = call.slice(0, -2);
        if (!body.isDisposed) await this.execute(`from course import ${name}; ${call}`, body);
      } else {
        body.node.append(NOT_BEGUN);
      }
      await launched;
    }
  }

  const NOT_BEGUN = "The first cells of the notebook did not run. Look at their output, then try again.";

  /** The buttons of one exercise, in its check cell between the code and the report. */
  class Bar {
    constructor(lesson, cell, name) {
      Object.assign(this, { lesson, cell, name });
      const button = (label, action, about) => {
        const made = element("button", { type: "button", textContent: label, title: about });
        made.setAttribute("aria-label", `${label} ${name}`);
        made.addEventListener("click", () => void lesson.once(action.bind(this)));
        return made;
      };
      this.solution = button("Solution", this.showSolution, "Show right answers in several styles");
      this.solution.hidden = true;
      this.close = button("Close", this.clear, "Close the hints and solutions");
      this.close.hidden = true;
      this.status = element("span", {});
      this.status.setAttribute("role", "status");
      const row = element(
        "div",
        { className: "attn-row" },
        button("Check", this.check, `Run the cell of ${name} and check it`),
        button("Hint", this.hint, "Show the next hint"),
        button("Reset", this.reset, "Begin again; your code is kept below as comments"),
        this.solution,
        this.close,
        this.status
      );
      this.widget = new Panel();
      this.widget.addClass("attn-buttons");
      this.widget.addWidget(new Widget({ node: row }));
      this.answers = new Panel();
      this.answers.node.setAttribute("aria-live", "polite");
      this.widget.addWidget(this.answers);
      this.node.setAttribute("role", "group");
      this.node.setAttribute("aria-label", `Buttons of ${name}`);
      this.node.dataset.lmSuppressShortcuts = "true"; // Enter presses the button instead of editing the cell
    }

    get node() {
      return this.widget.node;
    }

    attach() {
      const { layout } = this.cell;
      const input = layout.widgets.findIndex(widget => widget.hasClass("jp-Cell-inputWrapper"));
      layout.insertWidget(input + 1, this.widget);
      this.cell.model.outputs.changed.connect(() => this.showVerdict());
      this.showVerdict();
      this.showState();
    }

    showVerdict() {
      const verdict = verdictOf(this.cell);
      this.say(verdict ? verdictText(verdict) : "");
    }

    showState() {
      this.solution.hidden = !this.lesson.state.tasks[this.name]?.solution;
    }

    /** Change what the bar says; a screen reader reads it where it changes. */
    say(text) {
      if (this.status.textContent !== text) this.status.textContent = text;
    }

    /** The cell with the answer: the graded one of this name, or else the nearest above that defines it. */
    answerCell() {
      const cells = this.lesson.panel.content.widgets;
      const above = cells.slice(0, cells.indexOf(this.cell)).filter(cell => cell.model.type === "code");
      const defines = new RegExp(`^(async\\s+)?(def|class)\\s+${this.name}\\b`, "m");
      const marked = cell => cell.model.getMetadata("nbgrader")?.grade_id === this.name;
      return above.find(marked) || above.reverse().find(cell => defines.test(codeOf(cell)));
    }

    async check() {
      if (!(await this.lesson.begun())) return this.say(NOT_BEGUN);
      const answer = this.answerCell();
      if (answer) await this.lesson.run([answer]); // if it fails, the check says so
      await this.lesson.run([this.cell]);
      return undefined;
    }

    hint() {
      return this.show("hint");
    }

    showSolution() {
      return this.show("solution");
    }

    async show(call) {
      if (!(await this.lesson.begun())) return this.say(NOT_BEGUN);
      if (call === "solution") this.clear();
      this.close.hidden = false;
      await this.lesson.execute(`from course import ${call}; ${call}(${this.name})`, this.answers);
      return undefined;
    }

    clear() {
      [...this.answers.widgets].forEach(output => output.dispose());
      this.close.hidden = true;
    }

    async reset() {
      if (!(await this.lesson.begun())) return this.say(NOT_BEGUN);
      const answer = this.answerCell();
      const { stub } = this.lesson.state.tasks[this.name] || {};
      if (!stub || !answer) {
        const missing = stub ? `There is no cell with ${this.name} above` : `The unanswered ${this.name} is not known here`;
        return this.say(`${missing}: copy the cell from a fresh copy of the lesson.`);
      }
      const code = codeOf(answer);
      if (code.trim() === stub.trim()) return this.say("Nothing to reset.");
      const { content } = this.lesson.panel;
      const metadata = { jupyter: { source_hidden: true } };
      const kept = { cell_type: "code", source: asComments(this.name, code), metadata };
      content.model.sharedModel.insertCell(content.widgets.indexOf(this.cell) + 1, kept);
      answer.model.sharedModel.setSource(stub);
      this.cell.model.clearExecution(); // the verdict was on the code that is gone
      return this.say("Your code is kept in the folded cell below.");
    }
  }

  const plugin = {
    id: `${NAME}:buttons`,
    description: "Buttons of the course at its exercises and in the notebook's toolbar.",
    autoStart: true,
    activate: async app => {
      ({ NotebookActions } = await shared("@jupyterlab/notebook"));
      if (!NotebookActions.runCells) throw new Error(`${NAME}: the buttons need JupyterLab 4.2 or Notebook 7.2`);
      ({ SimplifiedOutputArea, OutputAreaModel } = await shared("@jupyterlab/outputarea"));
      ({ Dialog } = await shared("@jupyterlab/apputils"));
      ({ ToolbarButton } = await shared("@jupyterlab/ui-components"));
      ({ Widget, Panel } = await shared("@lumino/widgets"));
      document.head.append(element("style", { textContent: STYLE }));
      app.docRegistry.addWidgetExtension("Notebook", {
        createNew: panel => {
          void panel.context.ready.then(() => {
            const cells = panel.isDisposed ? [] : panel.content.widgets;
            if (cells.some(cell => cell.model.type === "code" && BEGIN.test(codeOf(cell)))) new Lesson(panel);
          });
        }
      });
    }
  };

  /** A module that JupyterLab shares with its extensions. */
  let scope;
  async function shared(name) {
    const versions = Object.values(scope[name] || {});
    if (!versions.length) throw new Error(`${NAME}: this JupyterLab does not share ${name}`);
    return (await (versions.find(version => version.loaded) || versions[0]).get())();
  }

  // https://webpack.js.org/concepts/module-federation/#dynamic-remote-containers
  const container = {
    init: shareScope => void (scope = shareScope),
    get: async () => () => ({ __esModule: true, default: plugin })
  };
  (window._JUPYTERLAB ??= {})[NAME] = container;
})();

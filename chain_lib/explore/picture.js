// The picture of an explorer: an image whose description follows it, handles to drag in it, and a line of
// text that is announced.

const GONE = "The kernel is gone, so this picture no longer follows. Run the notebook's cells again, from the top.";
const SILENT =
  "The kernel does not answer: it is busy, or it is gone. If it stays so, restart it and run the notebook's cells again, from the top.";
const PATIENCE = 3000; // ms from a move to the doubt whether the kernel is there
const RECENT = 200; // ms in which a slider that moves is moved by the reader
const TOUCHES = ["keydown", "pointerdown", "pointermove", "change", "click"];
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };

function element(tag, className, attributes = {}) {
  const made = document.createElement(tag);
  made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function set(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

function render({ model, el }) {
  const stage = element("div", "chain-lib-stage");
  const image = element("img", "");
  const line = element("p", "chain-lib-line", { role: "status" });
  stage.append(image);
  el.append(stage, line);

  let alarm = null;

  // One message at a time: the newest place waits until the picture of the last one has come.
  let waiting = false;
  let next = null;
  function send(message) {
    if (waiting) {
      next = message;
    } else {
      waiting = true;
      model.send(message);
    }
  }
  function answered() {
    waiting = false;
    if (next) {
      const message = next;
      next = null;
      send(message);
    }
  }

  const handles = new Map();
  function handle({ name, label, low, high }) {
    const knob = element("div", "chain-lib-handle", {
      role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": low, "aria-valuemax": high,
      "data-lm-suppress-shortcuts": "true",
    });
    function drag(event) {
      const box = image.getBoundingClientRect();
      send({ name, across: (event.clientX - box.left) / box.width, down: (event.clientY - box.top) / box.height });
    }
    knob.addEventListener("pointerdown", (event) => {
      knob.setPointerCapture(event.pointerId);
      knob.addEventListener("pointermove", drag);
      knob.focus();
      event.preventDefault();
    });
    for (const end of ["pointerup", "pointercancel"]) {
      knob.addEventListener(end, () => knob.removeEventListener("pointermove", drag));
    }
    knob.addEventListener("keydown", (event) => {
      if (event.key in STEPS) {
        send({ name, steps: STEPS[event.key], up: event.key === "ArrowUp" || event.key === "ArrowDown" });
        event.preventDefault();
      }
    });
    stage.append(knob);
    return knob;
  }

  function show() {
    clearTimeout(alarm);
    alarm = null;
    const url = URL.createObjectURL(new Blob([model.get("png")], { type: "image/png" }));
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.alt = model.get("alt");
    line.textContent = model.get("text");
    for (const given of model.get("handles")) {
      if (!handles.has(given.name)) handles.set(given.name, handle(given));
      const knob = handles.get(given.name);
      knob.style.left = `${100 * given.across}%`;
      knob.style.top = `${100 * given.down}%`;
      set(knob, "aria-valuenow", String(given.value));
      knob.setAttribute("aria-valuetext", given.words);
    }
    nameSliders();
    answered();
  }

  // ipywidgets leaves a slider's handle and the buttons that play without a name and announces the number of a stop, not its value;
  // JupyterLab takes its arrow keys away.
  function nameSliders() {
    for (const knob of document.querySelectorAll(".chain-lib-explorer .noUi-handle")) {
      const slider = knob.closest(".widget-inline-hbox");
      const label = slider.querySelector("label")?.textContent;
      const value = slider.querySelector(".widget-readout")?.textContent;
      if (label) set(knob, "aria-label", label);
      if (value) set(knob, "aria-valuetext", value);
      set(knob, "data-lm-suppress-shortcuts", "true");
    }
    for (const player of document.querySelectorAll(".chain-lib-explorer .widget-play")) {
      const what = player.parentElement.querySelector(".widget-label")?.textContent ?? "play";
      const words = [`${what}, or pause`, `${what}: stop and go back to the start`, `${what}: repeat`];
      player.querySelectorAll("button").forEach((button, k) => set(button, "aria-label", words[k]));
    }
  }

  const sliders = new MutationObserver(nameSliders);
  sliders.observe(document.body, { childList: true, subtree: true });
  // A restarted kernel is told by a class on the controls; a dead one by its silence after a move.
  function expectPicture() {
    alarm ??= setTimeout(() => (line.textContent = SILENT), PATIENCE);
  }
  let touched = -Infinity;
  function touch(event) {
    const control = event.target.closest?.(".chain-lib-explorer :is(.noUi-target, .widget-readout, select, button)");
    if (!control || control.closest(".chain-lib-explorer") !== el.closest(".chain-lib-explorer")) return;
    if (control.closest(".widget-play")) {
      if (event.type === "click" && control.querySelector(".fa-play")) expectPicture();
    } else if (control.matches("button, select")) {
      if (event.type === (control.matches("button") ? "click" : "change")) expectPicture();
    } else {
      touched = performance.now();
    }
  }
  const life = new MutationObserver((changes) => {
    const explorer = el.closest(".chain-lib-explorer");
    const moved = ({ attributeName: name, oldValue, target }) =>
      name === "aria-valuenow" && target.matches(".noUi-handle") && explorer?.contains(target) &&
      target.getAttribute(name) !== oldValue;
    if (explorer?.classList.contains("jupyter-widgets-disconnected")) {
      line.textContent = GONE;
    } else if (performance.now() - touched < RECENT && changes.some(moved)) {
      expectPicture();
    }
  });
  for (const kind of TOUCHES) document.addEventListener(kind, touch, true);
  life.observe(document.body, {
    attributes: true, attributeOldValue: true, subtree: true, attributeFilter: ["class", "aria-valuenow"],
  });
  model.on("change:serial", show);
  show();
  return () => {
    clearTimeout(alarm);
    for (const kind of TOUCHES) document.removeEventListener(kind, touch, true);
    sliders.disconnect();
    life.disconnect();
    model.off("change:serial", show);
  };
}

export default { render };

// The picture of an explorer: an image whose description follows it, and a line of text that is announced.

function render({ model, el }) {
  const image = document.createElement("img");
  image.style.maxWidth = "100%";
  const line = document.createElement("p");
  line.setAttribute("role", "status");
  line.style.maxWidth = "750px";
  line.style.margin = "0.2em 0 0 0";
  line.style.lineHeight = "1.35";
  el.append(image, line);

  function show() {
    const url = URL.createObjectURL(new Blob([model.get("png")], { type: "image/png" }));
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    image.alt = model.get("alt");
    line.textContent = model.get("text");
  }

  // ipywidgets leaves a slider's handle without a name; it takes the label beside it.
  function nameHandles() {
    for (const handle of document.querySelectorAll(".chain-lib-explorer .noUi-handle:not([aria-label])")) {
      const label = handle.closest(".jupyter-widgets")?.querySelector("label");
      if (label) handle.setAttribute("aria-label", label.textContent);
    }
  }

  const observer = new MutationObserver(nameHandles);
  observer.observe(document.body, { childList: true, subtree: true });
  model.on("change:serial", show);
  nameHandles();
  show();
  return () => {
    observer.disconnect();
    model.off("change:serial", show);
  };
}

export default { render };

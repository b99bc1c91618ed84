// Choosing and dropping files, and copying the command; htmx does the rest.
const main = document.getElementById("main");
const message = document.getElementById("message");

function say(text) {
  message.textContent = text;
  if (text) message.scrollIntoView({ block: "nearest" });
}

async function send(kind, file) {
  say("");
  waiting(`Reading ${file.name} …`);
  main.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`/file/${kind}`, {
      method: "POST",
      body: file,
      headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
    });
    const text = await answer.text();
    if (!answer.ok) say(text);
    else if (kind === "file") htmx.swap("#main", text, { swapStyle: "innerHTML" });
    else given(kind, text);
  } catch {
    say("The app cannot be reached: is nashgraph ui still running?");
  } finally {
    main.removeAttribute("aria-busy");
    waiting("or drop it here");
  }
}

function waiting(text) {
  const line = document.querySelector("#drop p");
  if (line) line.textContent = text;
}

function given(kind, name) {
  const line = document.getElementById(`given-${kind}`);
  line.firstElementChild.textContent = name;
  line.hidden = name === "";
  htmx.trigger("#setup", "change");
}

document.addEventListener("change", (event) => {
  const { kind } = event.target.dataset;
  if (!kind || !event.target.files.length) return;
  event.stopPropagation();
  send(kind, event.target.files[0]);
}, true);

document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.getElementById("drop")?.classList.add("over");
});
document.addEventListener("dragleave", () => document.getElementById("drop")?.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.getElementById("drop")?.classList.remove("over");
  const [file] = event.dataTransfer.files;
  if (file && document.getElementById("drop")) send("file", file);
});

document.addEventListener("click", async (event) => {
  const { copy, forget } = event.target.dataset;
  if (copy) {
    await navigator.clipboard.writeText(document.getElementById(copy).textContent);
    event.target.textContent = "Copied";
    setTimeout(() => { event.target.textContent = "Copy"; }, 1500);
  }
  if (forget) {
    await fetch(`/do/forget-${forget}`, { method: "POST" });
    document.getElementById(`file-${forget}`).value = "";
    given(forget, "");
  }
});

document.addEventListener("htmx:beforeRequest", () => say(""));
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === main) main.querySelector("h2")?.scrollIntoView({ block: "nearest" });
});
document.addEventListener("htmx:sendError", () => say("The app cannot be reached: is nashgraph ui still running?"));

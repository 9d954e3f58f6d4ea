// The answer to a question while it is written. Without it the form gives the whole answer as a page.
"use strict";

{
  const STREAM = "application/x-ndjson";
  const asking = document.querySelector("form.ask");
  const question = asking.elements.namedItem("question");
  const button = asking.querySelector("button:not(.cancel)");
  const cancel = asking.querySelector(".cancel");
  const state = asking.querySelector(".state");
  const answer = document.getElementById("answer");
  let underWay = null;

  const element = (tag, className) => Object.assign(document.createElement(tag), { className });

  // Only what the server made is put in as HTML; a model's words come as text.
  const written = () => {
    const steps = element("ol", "steps-now");
    const blocks = element("article", "answer");
    const tail = element("p", "tail");
    answer.replaceChildren(steps, blocks, tail);
    const step = (at, line) => {
      while (steps.children.length <= at) steps.append(element("li", ""));
      steps.children[at].textContent = line;
    };
    return ({ kind, at, said: text }) => {
      if (kind === "text") tail.textContent += text;
      else tail.textContent = "";
      if (kind === "block") blocks.insertAdjacentHTML("beforeend", text);
      if (kind === "void" || kind === "aside") blocks.replaceChildren();
      if (kind === "step") step(Number(at), text);
      if (kind === "end") answer.innerHTML = text;
      return kind === "end";
    };
  };

  const showMessage = (text) => {
    const line = element("p", "notes");
    line.textContent = text;
    answer.append(line);
  };

  const lines = async function* (body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const whole = (rest + value).split("\n");
      rest = whole.pop();
      for (const line of whole) if (line) yield JSON.parse(line);
    }
  };

  const ask = async (form) => {
    const response = await fetch(asking.action, {
      method: "POST",
      body: form,
      headers: { Accept: STREAM },
      signal: underWay.signal,
    });
    if (!response.headers.get("content-type")?.startsWith(STREAM)) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      // After a new start of the server its next form has another token.
      const token = page.querySelector('input[name="token"]');
      if (token) asking.elements.namedItem("token").value = token.value;
      showMessage(page.querySelector('[role="alert"]')?.textContent ?? "The server refused the question.");
      return;
    }
    const hear = written();
    let isWhole = false;
    for await (const line of lines(response.body)) isWhole = hear(line);
    if (!isWhole) showMessage("The server broke off: the terminal that it runs in says why.");
  };

  const begin = async () => {
    if (underWay || !asking.reportValidity()) return;
    underWay = new AbortController();
    const since = Date.now();
    const clock = setInterval(() => { state.textContent = `${Math.round((Date.now() - since) / 1000)} s`; }, 1000);
    state.textContent = "asking …";
    answer.setAttribute("aria-busy", "true");
    const form = new URLSearchParams(new FormData(asking));
    answer.replaceChildren();
    button.disabled = true;
    cancel.hidden = false;
    try {
      await ask(form);
      state.textContent = "";
    } catch (error) {
      if (error.name === "AbortError") showMessage("Cancelled. What was asked of the model until then is paid.");
      else showMessage("The connection broke off: is `codesum web` still running? Its terminal says more.");
      state.textContent = "";
    } finally {
      clearInterval(clock);
      answer.removeAttribute("aria-busy");
      button.disabled = false;
      cancel.hidden = true;
      underWay = null;
      if (document.activeElement === document.body) question.focus();
    }
  };

  asking.addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  cancel.addEventListener("click", () => underWay?.abort());
  asking.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && event.target === question && !event.shiftKey) {
      event.preventDefault();
      begin();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    if (underWay) underWay.abort();
    else if (event.target !== question) return;
    else question.blur();
    event.stopImmediatePropagation();
  }, true);
}

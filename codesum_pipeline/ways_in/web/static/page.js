// Search as you type, and the keyboard. Without it the form and the links do the same.
"use strict";

const PAUSE_MS = 120;
const field = document.querySelector('input[type="search"]');
const form = field.form;

const typedQuery = () => {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim()) query.append(name, value);
  return query.toString();
};

const withQuery = (path, query) => (query ? `${path}?${query}` : path);

if (form.dataset.live) {
  // `autofocus` waits for the first drawing, which on a busy machine comes after the first key.
  if (document.activeElement === document.body) field.focus();

  const results = document.getElementById("results");
  let shown = typedQuery();
  let waiting, underWay;

  const show = (html, isAnswer) => {
    if (isAnswer) results.innerHTML = html;
    else results.replaceChildren(Object.assign(document.createElement("p"), { className: "message", textContent: html }));
    results.removeAttribute("aria-busy");
  };

  const search = async () => {
    clearTimeout(waiting);
    const query = typedQuery();
    if (query === shown) return;
    shown = query;
    underWay?.abort();
    underWay = new AbortController();
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(withQuery(form.dataset.live, query), { signal: underWay.signal });
      const html = await answer.text();
      if (query !== shown) return;
      show(html, answer.headers.get("content-type")?.startsWith("text/html"));
      history.replaceState(null, "", withQuery("/", query));
      document.title = field.value.trim() ? `${field.value.trim().slice(0, 100)} · codesum` : "codesum";
    } catch (error) {
      if (error.name === "AbortError") return;
      shown = null;
      show("The server does not answer: is `codesum web` still running?", false);
    }
  };

  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(search, PAUSE_MS);
  });
  form.addEventListener("change", search);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
}

const steps = () => [...document.querySelectorAll("[data-step]")];

const step = (by) => {
  const links = steps();
  const now = links.indexOf(document.activeElement);
  if (now + by < 0) field.focus();
  else links[Math.min(now + by, links.length - 1)]?.focus();
};

const isTyping = (target) => target.matches("input:not([type=checkbox]), select, textarea");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const inField = event.target === field;
  if (event.key === "/" && !isTyping(event.target)) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (inField && field.value) {
      field.value = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (inField) field.blur();
    else if (form.dataset.live || history.length < 2) field.focus();
    else history.back();
  } else if (event.key === "ArrowDown" && (inField || !isTyping(event.target))) {
    event.preventDefault();
    step(1);
  } else if (event.key === "ArrowUp" && !isTyping(event.target)) {
    event.preventDefault();
    step(-1);
  } else if (event.key === "Enter" && inField && form.dataset.live && typedQuery() && steps().length && !event.shiftKey) {
    // What is typed is searched for already: Enter goes on to the best hit.
    event.preventDefault();
    form.requestSubmit();
    if (!document.querySelector('[aria-busy="true"]')) step(1);
  }
});

// The source editor: a transparent text area above a layer with colours and marks, and line numbers.

const token = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(^[ \t]*#[ \t]*\w+)|\b(\d[\w.]*(?:[eEpP][+-]?\w+)?|0x[\da-fA-F]+\w*)|\b(__\w+|kernel|global|local|private|constant|generic|read_only|write_only|read_write|if|else|for|while|do|switch|case|default|break|continue|return|goto|struct|union|enum|typedef|const|volatile|restrict|static|inline|sizeof|void|bool|size_t|event_t|sampler_t|image\w+_t|(?:u?char|u?short|u?int|u?long|half|float|double)(?:2|3|4|8|16)?)\b/gm;
const kinds = ["comment", "string", "keyword", "number", "keyword"];

/** Splits code into lines of pieces: text and the class of its colour. */
function highlighted(source) {
  const lines = [[]];
  const add = (text, kind) => {
    text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part) lines.at(-1).push([part, kind]);
    });
  };
  let at = 0;
  for (const match of source.matchAll(token)) {
    add(source.slice(at, match.index));
    add(match[0], kinds[match.slice(1).findIndex((group) => group !== undefined)]);
    at = match.index + match[0].length;
  }
  add(source.slice(at));
  return lines;
}

/** Appends the pieces of a line to an element, with marks for the ranges of columns. */
function fill(row, pieces, marks) {
  let column = 0;
  for (const [text, kind] of pieces) {
    let rest = text;
    while (rest) {
      const mark = marks.find(({ from, to }) => from <= column && column < to);
      const next = Math.min(...marks.flatMap(({ from, to }) => [from, to]).filter((bound) => bound > column), column + rest.length);
      const part = document.createElement(mark ? "mark" : "span");
      part.textContent = rest.slice(0, next - column);
      if (mark?.kind === "warning") part.classList.add("warning");
      if (kind) part.classList.add(kind);
      row.append(part);
      rest = rest.slice(next - column);
      column = next;
    }
  }
}

export class Editor {
  #text = document.createElement("textarea");
  #code = document.createElement("div");
  #gutter = document.createElement("div");
  #marks = [];
  #hues = new Map();

  constructor(parent, { onChange, onHover, onClick }) {
    Object.assign(this.#text, { spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off" });
    this.#text.setAttribute("aria-label", "OpenCL C source");
    this.#code.className = "code";
    this.#gutter.className = "gutter";
    const layers = document.createElement("div");
    layers.className = "layers";
    layers.append(this.#code, this.#text);
    parent.append(this.#gutter, layers);
    this.#text.addEventListener("input", () => {
      this.#marks = [];
      this.#hues.clear();
      this.#draw();
      onChange();
    });
    this.#text.addEventListener("scroll", () => this.#follow());
    this.#text.addEventListener("keydown", (event) => this.#key(event));
    this.#text.addEventListener("mousemove", (event) => onHover(this.#lineAt(event)));
    this.#text.addEventListener("mouseleave", () => onHover(null));
    this.#text.addEventListener("click", (event) => onClick(this.#lineAt(event)));
  }

  get value() {
    return this.#text.value;
  }

  set value(source) {
    this.#text.value = source;
    this.#marks = [];
    this.#hues.clear();
    this.#text.scrollTop = 0;
    this.#draw();
  }

  /** Returns the position of the cursor, from 1. */
  get cursor() {
    const before = this.#text.value.slice(0, this.#text.selectionStart).split("\n");
    return { line: before.length, column: before.at(-1).length + 1 };
  }

  /** Marks errors and warnings: line, columns from 1 and kind. */
  set marks(marks) {
    this.#marks = marks;
    this.#draw();
  }

  /** Colours lines. */
  set hues(hues) {
    this.#hues = hues;
    this.#draw();
  }

  link(line) {
    [...this.#code.children].forEach((row, index) => row.classList.toggle("linked", index + 1 === line));
  }

  /** Selects a range and scrolls to it. */
  select(line, column, endLine = line, endColumn = column) {
    const lines = this.#text.value.split("\n");
    const offset = (row, at) => lines.slice(0, row - 1).reduce((sum, text) => sum + text.length + 1, 0) + at - 1;
    this.#text.focus();
    this.#text.setSelectionRange(offset(line, column), offset(endLine, endColumn));
    this.reveal(line);
  }

  reveal(line) {
    const row = this.#code.children[line - 1];
    if (!row) return;
    const [top, height] = [row.offsetTop, this.#text.clientHeight];
    if (top < this.#text.scrollTop || top + row.offsetHeight > this.#text.scrollTop + height) this.#text.scrollTop = Math.max(0, top - height / 2);
    this.#follow();
  }

  /** Replaces a range, as typing does. */
  replace({ line, column, endLine, endColumn }, text) {
    this.select(line, column, endLine, endColumn);
    this.#insert(text);
  }

  #insert(text) {
    // Keeps the history of changes, unlike setRangeText.
    if (!document.execCommand("insertText", false, text)) {
      this.#text.setRangeText(text, this.#text.selectionStart, this.#text.selectionEnd, "end");
      this.#text.dispatchEvent(new Event("input"));
    }
  }

  #key(event) {
    if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      this.#insert("    ");
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const before = this.#text.value.slice(0, this.#text.selectionStart);
      const indent = /^[ \t]*/.exec(before.slice(before.lastIndexOf("\n") + 1))[0];
      this.#insert(`\n${indent}${before.endsWith("{") ? "    " : ""}`);
    }
  }

  #lineAt(event) {
    const first = this.#code.firstElementChild;
    if (!first) return null;
    const line = Math.floor((event.offsetY + this.#text.scrollTop - first.offsetTop) / first.offsetHeight) + 1;
    return line >= 1 && line <= this.#code.children.length ? line : null;
  }

  #follow() {
    this.#code.scrollTop = this.#text.scrollTop;
    this.#code.scrollLeft = this.#text.scrollLeft;
    this.#gutter.scrollTop = this.#text.scrollTop;
  }

  #draw() {
    const numbers = [];
    const rows = highlighted(this.#text.value).map((pieces, index) => {
      const marks = this.#marks.filter(({ line }) => line === index + 1);
      const number = document.createElement("span");
      number.className = `row ${marks[0]?.kind ?? ""}`;
      number.textContent = index + 1;
      numbers.push(number);
      const row = document.createElement("span");
      row.className = "row";
      const hue = this.#hues.get(index + 1);
      if (hue !== undefined) {
        row.dataset.hue = hue;
        row.style.setProperty("--hue", hue);
      }
      fill(row, pieces, marks);
      return row;
    });
    this.#code.replaceChildren(...rows);
    this.#gutter.replaceChildren(...numbers);
    this.#follow();
  }
}

// The panes with the code of a kernel.

export const choices = {
  wgsl: "WGSL",
  spirv: "SPIR-V",
  "vir:avx2": "Vector IR, AVX2",
  "vir:avx512": "Vector IR, AVX-512",
  "vir:armv8": "Vector IR, AArch64",
  "asm:sse4.2": "x86-64, SSE4.2",
  "asm:avx2": "x86-64, AVX2",
  "asm:avx512": "x86-64, AVX-512",
  "asm:armv8": "AArch64",
  "asm:armv8.2": "AArch64, Armv8.2",
  "asm:sve-256": "AArch64, SVE, 256 bits",
  msl: "MSL",
  hlsl: "HLSL",
  glsl: "GLSL",
};

/** Returns the hue of a source line. Neighbouring lines have different hues. */
export const hueOf = (line) => Math.round((line * 137.5) % 360);

export class Output {
  element = document.createElement("div");
  #listing = document.createElement("div");
  #size = document.createElement("span");
  #lines = [];

  constructor(form, { onForm, onClose, onHover, onClick }) {
    this.form = form;
    this.element.className = "pane output";
    this.element.dataset.form = form;
    const bar = document.createElement("div");
    bar.className = "bar";
    const select = document.createElement("select");
    select.setAttribute("aria-label", "Stage");
    for (const [value, text] of Object.entries(choices)) select.append(new Option(text, value));
    select.value = form;
    select.addEventListener("change", () => {
      this.form = select.value;
      this.element.dataset.form = this.form;
      onForm(this);
    });
    this.#size.className = "hint";
    const spacer = document.createElement("span");
    spacer.className = "spacer";
    const copy = button("Copy", "Copy the text", () => navigator.clipboard.writeText(this.text));
    bar.append(select, this.#size, spacer, copy, button("+", "Add a pane", () => onClose(this, true)), button("×", "Remove the pane", () => onClose(this, false)));
    this.#listing.className = "listing code";
    this.#listing.tabIndex = 0;
    this.#listing.addEventListener("mouseover", (event) => onHover(this.#lineOf(event)));
    this.#listing.addEventListener("mouseleave", () => onHover(null));
    this.#listing.addEventListener("click", (event) => onClick(this.#lineOf(event), this));
    this.element.append(bar, this.#listing);
  }

  text = "";

  #lineOf(event) {
    const row = event.target.closest(".row");
    return row ? (this.#lines[[...this.#listing.children].indexOf(row)] ?? null) : null;
  }

  show({ text, lines }) {
    const top = this.#listing.scrollTop;
    this.text = text;
    this.#lines = lines;
    const rows = text.replace(/\n$/, "").split("\n");
    this.#size.textContent = `${rows.length} lines`;
    this.#listing.replaceChildren(
      ...rows.map((content, index) => {
        const row = document.createElement("span");
        row.className = "row";
        row.textContent = content;
        if (lines[index] !== null && lines[index] !== undefined) {
          row.dataset.hue = hueOf(lines[index]);
          row.dataset.line = lines[index];
          row.style.setProperty("--hue", hueOf(lines[index]));
        }
        return row;
      }),
    );
    this.#listing.scrollTop = top;
  }

  fail(message) {
    const box = document.createElement("div");
    box.className = "failure";
    box.textContent = message;
    this.#listing.replaceChildren(box);
    this.#size.textContent = "";
    this.#lines = [];
    this.text = "";
  }

  get lines() {
    return this.#lines;
  }

  link(line) {
    [...this.#listing.children].forEach((row, index) => row.classList.toggle("linked", line !== null && this.#lines[index] === line));
  }

  reveal(line) {
    const row = this.#listing.children[this.#lines.indexOf(line)];
    if (row) this.#listing.scrollTop = row.offsetTop - this.#listing.offsetTop - this.#listing.clientHeight / 3;
  }
}

function button(text, title, action) {
  const element = document.createElement("button");
  Object.assign(element, { textContent: text, title });
  element.addEventListener("click", action);
  return element;
}

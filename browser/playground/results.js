// Shows the results of a run.

import { difference, pixels, shown } from "./values.js";

function block(className, content) {
  const element = document.createElement("div");
  element.className = className;
  element.textContent = content;
  return element;
}

function canvas({ data, width, height }, label) {
  const element = document.createElement("canvas");
  Object.assign(element, { width, height });
  element.setAttribute("aria-label", label);
  element.dataset.picture = label;
  element.getContext("2d").putImageData(new ImageData(data, width, height), 0, 0);
  // Small pictures are enlarged by a whole factor.
  const factor = Math.max(1, Math.min(4, Math.floor(256 / width)));
  element.style.width = `${width * factor}px`;
  return element;
}

const imageTypes = { rgba8: "uchar4*", rgba8uint: "uchar4*", rgba32float: "float4*", r8: "uchar*", r32float: "float*" };

function compare(kernel, result) {
  const lines = [];
  kernel.arguments.forEach((argument, index) => {
    const [left, right] = [result.values[index], result.compared[index]];
    const [a, b] = [left.buffer ?? left.image, right.buffer ?? right.image];
    if (!a) return;
    const found = difference(argument.kind === "image" ? imageTypes[left.format] : argument.typeName, a, b);
    if (found.count === 0) return;
    const ratio = found.isFloat ? `, the largest relative difference is ${found.most.toPrecision(2)}` : "";
    lines.push(`${argument.name}: ${found.count} of ${found.total} numbers differ between WebGPU and the interpreter${ratio}`);
  });
  return lines;
}

export function showResults(parent, kernel, args, result) {
  const list = [];
  if (result.fault) {
    const where = result.fault.line ? `line ${result.fault.line}: ` : "";
    const failed = block("failure", `${where}${result.fault.message}`);
    failed.dataset.fault = "";
    list.push(failed);
  }
  for (const note of result.notes) list.push(block("facts", note));
  const time = result.milliseconds === undefined ? "" : ` in ${result.milliseconds.toFixed(1)} ms`;
  const facts = block("facts", `Run by ${result.by === "interpreter" ? "the interpreter" : result.by}${time}.`);
  facts.dataset.by = result.by;
  list.push(facts);
  if (result.checked === "passed") {
    list.push(block("good", "The checker found no error."));
    if (result.compared) {
      const lines = compare(kernel, result);
      list.push(...(lines.length ? lines.map((line) => block("facts", line)) : [block("good", "The interpreter computes the same results.")]));
    }
  }
  if (result.output) {
    const heading = document.createElement("h3");
    heading.textContent = "printf";
    const text = block("numbers", result.output);
    text.dataset.output = "";
    list.push(heading, text);
  }
  kernel.arguments.forEach((argument, index) => {
    const value = result.values[index];
    const bytes = value.buffer ?? value.image;
    if (!bytes) return;
    const heading = document.createElement("h3");
    heading.textContent = `${argument.name} (${argument.typeName})`;
    list.push(heading);
    const settings = args[argument.name];
    if (argument.kind === "image") {
      list.push(canvas(pixels(imageTypes[value.format], bytes, value.width), argument.name));
    } else if (settings.view === "picture" && Number(settings.width) > 0) {
      list.push(canvas(pixels(argument.typeName, bytes, Number(settings.width)), argument.name));
    } else {
      const text = block("numbers", shown(argument.typeName, bytes));
      text.dataset.values = argument.name;
      list.push(text);
    }
  });
  parent.replaceChildren(...list);
}

export function showFailure(parent, message) {
  const failed = block("failure", message);
  failed.dataset.fault = "";
  parent.replaceChildren(failed);
}

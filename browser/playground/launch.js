// The form for the arguments of a kernel.

import { bufferBytes, imageBytes, valueBytes } from "./values.js";

const inits = { zeros: "zeros", ones: "ones", index: "0, 1, 2, …", random: "random", picture: "test picture", values: "values:" };
const formats = ["rgba8", "rgba8uint", "rgba32float", "r8", "r32float"];
const addressings = ["clamp-to-edge", "clamp", "repeat", "mirrored-repeat"];

function input(settings, name, { label, size = 6, placeholder = "" }, onChange) {
  const element = document.createElement("input");
  Object.assign(element, { size, placeholder, value: settings[name] ?? "", title: label, spellcheck: false });
  element.setAttribute("aria-label", label);
  element.dataset.field = name;
  element.addEventListener("input", () => {
    settings[name] = element.value;
    onChange();
  });
  return element;
}

function select(settings, name, choices, label, onChange) {
  const element = document.createElement("select");
  element.setAttribute("aria-label", label);
  element.title = label;
  element.dataset.field = name;
  for (const [value, text] of choices) element.append(new Option(text, value));
  element.value = settings[name];
  element.addEventListener("change", () => {
    settings[name] = element.value;
    onChange(true);
  });
  return element;
}

function text(content) {
  const element = document.createElement("span");
  element.textContent = content;
  return element;
}

function defaults(argument, count) {
  switch (argument.kind) {
    case "buffer":
      return { count, init: argument.isReadOnly || argument.isConstant ? "index" : "zeros", view: "numbers" };
    case "image":
      return { width: 64, height: 64, format: "rgba8", init: "picture" };
    case "sampler":
      return { linear: false, normalized: false, addressing: "clamp-to-edge" };
    case "local":
      return { local: 1024 };
    default:
      return { text: "1" };
  }
}

/** Completes the settings of a kernel's arguments. */
export function complete(kernel, args, count) {
  return Object.fromEntries(kernel.arguments.map((argument) => [argument.name, { ...defaults(argument, count), ...args[argument.name] }]));
}

/** Fills the body of the table with the arguments of a kernel. */
export function show(body, kernel, args, onChange) {
  const again = (structure) => {
    if (structure) show(body, kernel, args, onChange);
    onChange();
  };
  body.replaceChildren(
    ...kernel.arguments.map((argument) => {
      const row = document.createElement("tr");
      row.dataset.argument = argument.name;
      row.innerHTML = '<td class="name"></td><td class="type"></td><td class="value"></td>';
      row.querySelector(".name").textContent = argument.name;
      row.querySelector(".type").textContent = argument.typeName;
      row.querySelector(".value").append(...fields(argument, args[argument.name], again));
      return row;
    }),
  );
}

function fields(argument, settings, onChange) {
  switch (argument.kind) {
    case "buffer": {
      const list = [input(settings, "count", { label: "Number of elements" }, onChange), text("×"), select(settings, "init", Object.entries(inits), "Contents", onChange)];
      if (settings.init === "values") list.push(input(settings, "values", { label: "Values; the others are 0", size: 16, placeholder: "1, 2, 3" }, onChange));
      list.push(text("show"), select(settings, "view", [["numbers", "numbers"], ["picture", "picture"]], "View", onChange));
      if (settings.view === "picture") list.push(text("width"), input(settings, "width", { label: "Pixels in a line", size: 4 }, onChange));
      return list;
    }
    case "image":
      return [
        input(settings, "width", { label: "Width", size: 4 }, onChange),
        text("×"),
        input(settings, "height", { label: "Height", size: 4 }, onChange),
        select(settings, "format", formats.map((name) => [name, name]), "Format", onChange),
        select(settings, "init", [["zeros", "zeros"], ["picture", "test picture"]], "Contents", onChange),
      ];
    case "sampler":
      return [
        select(settings, "linear", [["false", "nearest"], ["true", "linear"]], "Filter", onChange),
        select(settings, "normalized", [["false", "pixels"], ["true", "0 to 1"]], "Coordinates", onChange),
        select(settings, "addressing", addressings.map((name) => [name, name]), "Outside of the image", onChange),
      ];
    case "local":
      return [input(settings, "local", { label: "Size in bytes" }, onChange), text("bytes")];
    case "value":
      return [input(settings, "text", { label: "Value", size: 16 }, onChange)];
    default:
      return [text(`the playground cannot pass arguments of the kind "${argument.kind}"`)];
  }
}

const isTrue = (value) => value === true || value === "true";

/** Returns the value of each argument, as `Program.run` expects it. Throws an error that names the argument. */
export function values(kernel, args) {
  return kernel.arguments.map((argument) => {
    const settings = args[argument.name];
    try {
      return value(argument, settings);
    } catch (error) {
      throw Object.assign(new Error(`argument ${argument.name}: ${error.message}`), { argument: argument.name });
    }
  });
}

function value(argument, settings) {
  switch (argument.kind) {
    case "buffer":
      return { buffer: bufferBytes(argument.typeName, { ...settings, count: whole(settings.count), width: Number(settings.width) || undefined }) };
    case "image": {
      const [width, height] = [whole(settings.width), whole(settings.height)];
      return { image: imageBytes({ ...settings, width, height }), width, height, format: settings.format };
    }
    case "sampler":
      return { sampler: { isLinear: isTrue(settings.linear), isNormalized: isTrue(settings.normalized), addressing: settings.addressing } };
    case "local":
      return { local: whole(settings.local) };
    case "value":
      return { bytes: valueBytes(argument.typeName, argument.size, settings.text) };
    default:
      throw new Error(`the playground cannot pass arguments of the kind "${argument.kind}"`);
  }
}

function whole(content) {
  const number = Number(content);
  if (!Number.isInteger(number) || number <= 0) throw new Error(`"${content}" is not a positive integer`);
  return number;
}

/** Parses the sizes of a range, such as "64, 64". */
export function sizes(content) {
  const parts = content.split(/[\s,x×]+/).filter(Boolean);
  if (parts.length < 1 || parts.length > 3) throw new Error("1 to 3 sizes are needed");
  return parts.map(whole);
}

/** Returns the properties of the launch for listings. Settings that are not valid are ignored. */
export function launchOf(kernel, args, workGroupSize) {
  const launch = { workGroupSize, localMemory: {}, images: {}, samplers: {} };
  kernel.arguments.forEach((argument, index) => {
    const settings = args[argument.name];
    if (argument.kind === "local" && Number(settings.local) > 0) launch.localMemory[index] = Math.ceil(Number(settings.local));
    if (argument.kind === "image") launch.images[index] = settings.format;
    if (argument.kind === "sampler") launch.samplers[index] = value(argument, settings).sampler;
  });
  return launch;
}


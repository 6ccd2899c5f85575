// The state of the page in the fragment of its address: JSON, compressed, in the base64 alphabet for addresses.

async function transformed(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function encode(state) {
  const bytes = await transformed(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function decode(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await transformed(bytes, new DecompressionStream("deflate-raw"))));
}

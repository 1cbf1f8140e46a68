// Judges each line of files by a schema with ajv, formats on: node ajv.mjs MODULES SCHEMA FILE...
// Prints a line for each bad record. Exit 0: none; 1: some; 2: it could not run.
import { createRequire } from "node:module";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

const NEWLINE = 10;

function* lines(path) {
  const file = openSync(path);
  const block = Buffer.allocUnsafe(1 << 20);
  let rest = Buffer.alloc(0);
  for (let size; (size = readSync(file, block)) > 0; ) {
    const text = rest.length ? Buffer.concat([rest, block.subarray(0, size)]) : block.subarray(0, size);
    let start = 0;
    for (let end; (end = text.indexOf(NEWLINE, start)) >= 0; start = end + 1) yield text.toString("utf8", start, end);
    rest = Buffer.from(text.subarray(start));
  }
  closeSync(file);
  if (rest.length) yield rest.toString();
}

function main([modules, schema, ...paths]) {
  const require = createRequire(join(modules, "package.json"));
  const Ajv = require("ajv/dist/2020").default;
  const ajv = new Ajv();
  require("ajv-formats").default(ajv);
  const accepts = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
  let bad = 0;
  for (const path of paths) {
    let number = 0;
    for (const line of lines(path)) {
      number += 1;
      let wrong;
      try {
        if (accepts(JSON.parse(line))) continue;
        wrong = ajv.errorsText(accepts.errors);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        wrong = error.message;
      }
      bad += 1;
      console.log(`${path}:${number}: ${wrong}`);
    }
  }
  return bad ? 1 : 0;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}

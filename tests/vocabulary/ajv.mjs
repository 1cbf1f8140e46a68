// Judges records by a schema with ajv in strict mode: node ajv.mjs MODULES SCHEMA RECORDS -> one true or false a line.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modules, schema, records] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const Ajv = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;
const ajv = new Ajv({ strict: true, allErrors: true, strictRequired: true, validateSchema: true });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schema, "utf8")));
for (const line of readFileSync(records, "utf8").split("\n")) {
  if (line) console.log(validate(JSON.parse(line)));
}

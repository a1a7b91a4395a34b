// Call every method of a published JavaScript client once, and print an outcome a line.
//
// node driver.mjs FOLDER PACKAGE ADDRESS KEY < values.json
// Names of parameters are read off the methods: an object gets every value there is.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [folder, name, address, key] = process.argv.slice(2);
const values = JSON.parse(readFileSync(0, "utf8"));
const library = createRequire(`${folder}/`)(name);
const Client = library.JunctionClient ?? library.VitalClient;
const client = new Client({ apiKey: key, environment: address, baseUrl: address });

const camel = (text) => text.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const snake = (text) => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const newFile = () => new File(["%PDF-1.4"], "r.pdf", { type: "application/pdf" });

// `dates` says which texts are dates to this method.
function convert(value, dates) {
  if (Array.isArray(value)) return value.map((each) => convert(each, dates));
  if (typeof value === "string") return dates.test(value) ? new Date(value) : value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([each, inner]) => [camel(each), convert(inner, dates)]),
  );
}

function listArguments(method, own, dates) {
  const head = method.toString();
  const names = head.slice(head.indexOf("(") + 1, head.indexOf(")")).split(",");
  return names
    .map((each) => each.trim().replace(/ ?=.*/s, ""))
    .filter((each) => each && each !== "requestOptions")
    .map((each) => {
      const known = Object.fromEntries(
        Object.entries({ ...values, ...own }).filter(([, value]) => value !== null),
      );
      if (/^file/.test(each)) return newFile();
      if (/^request/.test(each)) {
        const fields = convert(known, dates);
        return { body: fields.request ?? fields, file: [newFile()], ...fields };
      }
      return known[snake(each)] ?? values.user_id;
    });
}

for (const group of Object.getOwnPropertyNames(Object.getPrototypeOf(client))) {
  if (["constructor", "fetch"].includes(group)) continue;
  const part = client[group];
  for (const each of Object.getOwnPropertyNames(Object.getPrototypeOf(part))) {
    if (each === "constructor" || each.startsWith("_")) continue;
    const method = `${snake(group)}.${snake(each)}`;
    await fetch(`${address}/-/${method}`);
    const own = values.by_method[method] ?? {};
    let fault = "";
    // Some methods take dates and times as Date objects, and say so before they send.
    for (const dates of [/(?!)/, /^\d{4}-\d\d-\d\dT/, /^\d{4}-\d\d-\d\d/]) {
      try {
        fault = "";
        await part[each](...listArguments(part[each], own, dates), { maxRetries: 0 });
      } catch (error) {
        fault = error.statusCode ? "" : `${error.name}: ${error.message}`.slice(0, 300);
      }
      if (!/Expected Date object|toISOString is not/.test(fault)) break;
    }
    console.log(JSON.stringify({ method, fault }));
  }
}
process.exit(0); // some clients keep connections that would keep us

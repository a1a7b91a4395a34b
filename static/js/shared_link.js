// The viewer of a SMART Health Link: reads the link from the fragment, which browsers
// never send, asks for the manifest, and decrypts its files here. Everything from a file
// goes into the page as text.
const page = document.querySelector("[data-manifests]");
const part = (name) => page.querySelector(`[data-shared-${name}]`);
const form = part("form");
const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) =>
    c.charCodeAt(0),
  );
const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

function show(problem) {
  for (const note of page.querySelectorAll("[data-problem]")) {
    note.hidden = note.dataset.problem !== problem;
  }
}

function readLink() {
  const written = location.hash.match(/^#shlink:\/([\w-]+)$/);
  if (!written) return null;
  try {
    const link = jsonOf(bytesOf(written[1]));
    return link.url && bytesOf(link.key).length === 32 ? link : null;
  } catch {
    return null;
  }
}

// Only to this server: a made-up link must not lead readers, and what they type, away.
function isOurs(link) {
  try {
    const { origin, pathname } = new URL(link.url);
    return origin === location.origin && pathname.startsWith(page.dataset.manifests);
  } catch {
    return false;
  }
}

async function inflate(bytes) {
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A compact JWE: header, no key, IV, ciphertext, tag; the header is authenticated too.
async function decrypt(jwe, key) {
  const [header, , iv, ciphertext, tag] = jwe.split(".");
  const { alg, enc, zip } = jsonOf(bytesOf(header));
  if (alg !== "dir" || enc !== "A256GCM") throw new Error("encryption");
  const sealed = new Uint8Array([...bytesOf(ciphertext), ...bytesOf(tag)]);
  const algorithm = {
    name: "AES-GCM",
    iv: bytesOf(iv),
    additionalData: new TextEncoder().encode(header),
  };
  const clear = new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed));
  return zip === "DEF" ? inflate(clear) : clear;
}

async function readFiles(link, manifest) {
  const usages = ["decrypt"];
  const raw = bytesOf(link.key);
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, usages);
  const read = async ({ embedded, location: place }) => {
    const jwe = embedded ?? (await (await fetch(place)).text());
    return jsonOf(await decrypt(jwe, key));
  };
  return Promise.all(manifest.files.map(read));
}

// A day in the language of the page; what a document says less exactly stays as it is.
function writeDay(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text ?? "")) return text;
  const style = { dateStyle: "long", timeZone: "UTC" };
  return new Date(text).toLocaleDateString(document.documentElement.lang, style);
}

const nameOf = (patient) => {
  const [name] = patient?.name ?? [];
  return [...(name?.given ?? []), name?.family].filter(Boolean).join(" ");
};

function valueOf({ valueQuantity: quantity, ...result }) {
  if (quantity) {
    return [quantity.comparator, quantity.value, quantity.unit].filter(
      (one) => one !== undefined,
    ).join(" ");
  }
  return result.valueString ?? result.valueCodeableConcept?.text ?? "";
}

function rangeOf([range] = []) {
  if (!range) return "";
  const { low, high } = range;
  if (range.text || (!low && !high)) return range.text ?? "";
  const bounds = [low?.value, high?.value];
  if (low && high) return bounds.join("–");
  return low ? `≥ ${low.value}` : `≤ ${high.value}`;
}

const FLAGS = {
  N: "normal",
  A: "abnormal",
  AA: "critical",
  H: "high",
  HH: "criticalHigh",
  L: "low",
  LL: "criticalLow",
};

function fill(copy, name, text) {
  const place = copy.querySelector(`[data-part="${name}"]`);
  place.textContent = text || place.dataset.none || "";
  if (!text) place.classList.add("muted");
  return place;
}

function buildRow(result) {
  const row = part("row").content.cloneNode(true);
  fill(row, "name", result.code.text ?? result.code.coding?.[0]?.display);
  fill(row, "value", valueOf(result));
  fill(row, "range", rangeOf(result.referenceRange));
  const [flag] = result.interpretation ?? [];
  const word = FLAGS[flag?.coding?.[0]?.code];
  const place = fill(row, "flag", flag?.text);
  if (word) place.textContent = place.dataset[word];
  return row;
}

function buildReport(report, resources) {
  const copy = part("report").content.cloneNode(true);
  const performer = report.performer?.find((one) => one.display)?.display;
  fill(copy, "title", report.code.text);
  const day = writeDay(report.effectiveDateTime?.slice(0, 10));
  fill(copy, "about", [performer, day].filter(Boolean).join(", "));
  const rows = (report.result ?? [])
    .map(({ reference }) => resources.get(reference))
    .filter(Boolean)
    .map(buildRow);
  copy.querySelector("tbody").append(...rows);
  return copy;
}

function buildDownload(template, content, type, name) {
  const copy = part(template).content.cloneNode(true);
  const link = copy.querySelector("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  const words = copy.querySelector("[data-part=name]");
  if (words) words.textContent = name;
  return copy;
}

function showResults([bundle, ...documents], manifest) {
  const resources = new Map(
    bundle.entry.map(({ resource }) => [
      `${resource.resourceType}/${resource.id}`,
      resource,
    ]),
  );
  const ofType = (type) =>
    [...resources.values()].filter((one) => one.resourceType === type);
  const [patient] = ofType("Patient");
  const person = part("person");
  person.textContent = nameOf(patient) || person.dataset.unknown;
  const born = part("born");
  born.textContent = writeDay(patient?.birthDate) ?? born.dataset.unknown;
  const made = new Date(manifest.files[0].lastUpdated);
  part("made").textContent = made.toLocaleString(document.documentElement.lang);
  part("reports").append(
    ...ofType("DiagnosticReport").map((report) => buildReport(report, resources)),
  );
  const kinds = { "application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg" };
  for (const { content } of documents) {
    const { data, title, contentType } = content[0].attachment;
    const name = `${title}.${kinds[contentType] ?? "bin"}`;
    part("files").append(buildDownload("file", bytesOf(data), contentType, name));
  }
  const fhir = JSON.stringify(bundle, null, 2);
  const type = "application/fhir+json";
  part("files").append(buildDownload("fhir", fhir, type, "results.json"));
  form.hidden = true;
  part("results").hidden = false;
  part("results").focus();
}

async function open(link) {
  const { recipient, passcode } = Object.fromEntries(new FormData(form));
  const response = await fetch(link.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    credentials: "omit",
    body: JSON.stringify({ recipient, ...(passcode ? { passcode } : {}) }),
  });
  if (response.status === 401) {
    part("left").textContent = (await response.json()).remainingAttempts;
    return show("passcode");
  }
  if (response.status === 404) {
    form.hidden = true;
    return show("ended");
  }
  if (!response.ok) return show(response.status === 429 ? "often" : "failed");
  const manifest = await response.json();
  let files;
  try {
    files = await readFiles(link, manifest);
  } catch {
    return show("unreadable");
  }
  show("");
  part("label").textContent = link.label ?? "";
  part("label").hidden = !link.label;
  return showResults(files, manifest);
}

function start() {
  const link = readLink();
  if (!link) return show("invalid");
  if (!isOurs(link)) return show("elsewhere");
  form.hidden = false;
  const needsPasscode = link.flag?.includes("P") ?? false;
  part("passcode").hidden = !needsPasscode;
  form.elements.passcode.required = needsPasscode;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await open(link);
    } catch {
      show("failed");
    } finally {
      button.disabled = false;
    }
  });
}

start();
addEventListener("hashchange", () => location.reload());

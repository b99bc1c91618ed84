// Bundles the modules of this folder into the one script of the report page. Its first line has a hash of the sources,
// by which a test tells that the bundle is that of the sources; see tests/report/test_bundle.py.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const out = new URL("../src/nashgraph/report/assets/page.js", here);
const sources = readdirSync(here).filter((name) => name.endsWith(".js") || name === "package.json").sort();
const hash = createHash("sha256");
for (const name of sources) hash.update(`${name}\n${readFileSync(new URL(name, here), "utf8")}\n`);

const { outputFiles } = await build({
  entryPoints: [new URL("main.js", here).pathname],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  write: false,
});
writeFileSync(out, `// sources ${hash.digest("hex")}\n${outputFiles[0].text.replaceAll("</script", "<\\/script")}`);
console.log(`${out.pathname}: ${outputFiles[0].text.length.toLocaleString("en")} characters`);

// Writes the update agent, the one that tests stop (test/clients/agent/faulty.ts), and the packager as one file each:
// a start then takes half the processor time, and tests start them seven hundred times. Users have the agent like
// that, and the packager as it is compiled, which the tests before a real service run. Does nothing when nothing was
// compiled since.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build, stop } from 'esbuild-wasm';

const DIST = join(import.meta.dirname, '..', 'dist');
const OUT = join(DIST, 'test', 'bundled');
const PROGRAMS = {
  'agent.mjs': 'clients/agent/main.js',
  'faulty-agent.mjs': 'test/clients/agent/faulty.js',
  // A thread of the packager's, which looks for it beside itself.
  'deflate-worker.js': 'clients/packager/deflate-worker.js',
  'packager.mjs': 'clients/packager/packager.js',
};

const changed = (path) => stat(path).then(({ mtimeMs }) => mtimeMs);

export async function bundleClients() {
  const built = await changed(join(DIST, '.tsbuildinfo'));
  for (const [name, entry] of Object.entries(PROGRAMS)) {
    const outfile = join(OUT, name);
    if ((await changed(outfile).catch(() => 0)) >= built) continue;
    await build({
      entryPoints: [join(DIST, entry)],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      // As in build-agent.mjs.
      mainFields: ['module', 'main'],
      // A library in CommonJS asks for Node's own modules.
      banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
      logLevel: 'error',
    });
  }
  await stop();
}

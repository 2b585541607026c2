/**
 * No door that only built-ins have: what a built-in plugin imports of the kernel and the ports, a
 * plugin from outside can import from `aos/plugin` and `aos/domain`, and the small tools from
 * `aos/lib/…`.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { exportedNames } from './exported.js';
import { factsOf } from './imports.js';
import { projectRoot, sources } from './tree.js';

const ROOT = projectRoot();

/** The source behind an entry of package.json's `exports`. */
async function sourceOf(entry: string): Promise<string> {
  const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>;
  };
  return (exports[entry]?.default ?? '').replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts');
}

describe('architecture: public plugin API', () => {
  it('exports everything that built-in plugins import from the kernel and the ports', async () => {
    const [plugin, domain] = await Promise.all([sourceOf('./plugin'), sourceOf('./domain')]);
    const open = new Set([...(await exportedNames(ROOT, plugin)), ...(await exportedNames(ROOT, domain))]);
    expect(open.size).to.be.greaterThan(100);
    const closed: string[] = [];
    for (const file of (await sources(ROOT)).filter((path) => path.startsWith('plugins/'))) {
      const { imports } = factsOf(await readFile(join(ROOT, file), 'utf8'), file);
      for (const { module, names } of imports) {
        const target = posix.join(posix.dirname(file), module);
        if (!module.startsWith('.') || !/^(ports|kernel)\//.test(target)) continue;
        for (const name of names) if (!open.has(name)) closed.push(`${file}: ${name} of ${target}`);
      }
    }
    expect(closed.join('\n')).to.equal('');
  });

  it('exports the helpers of lib/', async () => {
    expect(await sourceOf('./lib/*')).to.equal('lib/*.ts');
  });
});

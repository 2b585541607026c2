/**
 * deploy/: every setting that the files name is one, and the image holds what the service needs.
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPackageRoot } from '../../config/load.js';
import { resolveVariable } from '../../config/sources.js';

const ROOT = findPackageRoot();
const DEPLOY = join(ROOT, 'deploy');

async function texts(): Promise<Map<string, string>> {
  const names = (await readdir(DEPLOY, { recursive: true })).filter((name) =>
    /\.yaml$|Containerfile$|Caddyfile$|\.conf$/.test(name),
  );
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(DEPLOY, name), 'utf8')] as const)),
  );
}

/** Every key of config/default.json, with those that are null there. */
async function keys(): Promise<Set<string>> {
  const found = new Set<string>();
  const walk = (tree: object, at: string): void => {
    for (const [key, value] of Object.entries(tree) as [string, unknown][]) {
      const path = at === '' ? key : `${at}.${key}`;
      found.add(path);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) walk(value, path);
    }
  };
  walk(JSON.parse(await readFile(join(ROOT, 'config', 'default.json'), 'utf8')) as object, '');
  return found;
}

describe('deploy/', () => {
  it('names only existing settings', async () => {
    const known = await keys();
    let seen = 0;
    for (const [file, text] of await texts()) {
      for (const [variable] of text.matchAll(/\bSVC_[A-Z0-9_]+\b/g)) {
        seen += 1;
        const path = resolveVariable(variable)?.path;
        expect(path !== undefined && known.has(path), `${variable} of ${file}`).to.equal(true);
      }
    }
    expect(seen).to.be.greaterThan(20);
  });

  it('uses existing probes', async () => {
    for (const [file, text] of await texts()) {
      for (const [path] of text.matchAll(/\/api\/[a-z/]+/g)) {
        expect(path, file).to.be.oneOf(['/api/health/live', '/api/health/ready']);
      }
    }
  });

  it('copies into the image everything that package.json ships and the program reads', async () => {
    const text = (await texts()).get('Containerfile') ?? '';
    for (const folder of ['dist', 'docs', 'config/default.json', 'node_modules', 'package.json']) {
      expect(text, folder).to.include(`/src/${folder} `);
    }
  });

  it('allows more time for a stop than the service needs', async () => {
    const all = await texts();
    for (const file of ['compose.yaml', 'compose.mongodb.yaml']) {
      expect(Number(/stop_grace_period: (\d+)s/.exec(all.get(file) ?? '')?.[1]), file).to.be.greaterThan(15);
    }
    const pods = all.get(join('kubernetes', 'aos.yaml')) ?? '';
    expect(Number(/terminationGracePeriodSeconds: (\d+)/.exec(pods)?.[1])).to.be.greaterThan(15);
  });
});

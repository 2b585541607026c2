/**
 * The table of packages names what package.json has and counts what package-lock.json has, and no
 * package of a running service has an install script.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPackageRoot } from '../../config/load.js';

interface Installed {
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
}

const json = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(join(findPackageRoot(), name), 'utf8')) as T;

const ROW = /^\| `([^`]+)` +\| (\d+) +\| [\d.]+ +\| \S.* \|$/gm;
/** What npm installs on the machine of the table. */
const onLinux = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Installed): boolean =>
  os.includes('linux') && cpu.includes('x64') && libc.includes('glibc');

/** Where Node finds what the package at `from` names. */
function found(packages: Record<string, Installed>, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, place)) return place;
    if (at === '') return undefined;
  }
}

/** A package and everything that it brings. */
function brought(packages: Record<string, Installed>, place: string, seen = new Set<string>()): Set<string> {
  const one = packages[place];
  if (one === undefined || seen.has(place) || !onLinux(one)) return seen;
  seen.add(place);
  for (const name of Object.keys({ ...one.dependencies, ...one.optionalDependencies })) {
    const next = found(packages, place, name);
    if (next !== undefined) brought(packages, next, seen);
  }
  return seen;
}

describe('dependencies', () => {
  it('are listed in docs/packages.md, each with its purpose', async () => {
    const { dependencies } = await json<{ dependencies: Record<string, string> }>('package.json');
    const text = await readFile(join(findPackageRoot(), 'docs', 'packages.md'), 'utf8');
    const rows = [...text.matchAll(ROW)].map(([, name]) => name);
    expect(rows).to.deep.equal(Object.keys(dependencies).sort());
  });

  it('are counted there as in package-lock.json', async () => {
    const { packages } = await json<{ packages: Record<string, Installed> }>('package-lock.json');
    const text = await readFile(join(findPackageRoot(), 'docs', 'packages.md'), 'utf8');
    const installed = Object.entries(packages).filter(([place, one]) => place !== '' && onLinux(one));
    const running = installed.filter(([, { dev }]) => dev !== true);
    expect(/running service has (\d+) packages/.exec(text)?.[1]).to.equal(String(running.length));
    expect(/`npm ci` installs (\d+) packages/.exec(text)?.[1]).to.equal(String(installed.length));
    const written = [...text.matchAll(ROW)].map(([, name, count]) => `${name} ${count}`);
    const counted = [...text.matchAll(ROW)].map(
      ([, name = '']) => `${name} ${brought(packages, `node_modules/${name}`).size}`,
    );
    expect(written).to.deep.equal(counted);
  });

  it('run no install scripts', async () => {
    const { packages } = await json<{ packages: Record<string, Installed> }>('package-lock.json');
    const installed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
    expect(installed.length).to.be.greaterThan(100);
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name)).to.deep.equal([]);
  });
});

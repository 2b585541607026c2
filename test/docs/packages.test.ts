/** The table of packages names what package.json has, and no package of a running service has an install script. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/load.js';

interface Installed {
  dev?: boolean;
  hasInstallScript?: boolean;
}

const json = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(packageRoot(), name), 'utf8')) as T;

describe('packages', () => {
  it('stand in the table of CONTRIBUTING.md, each with its purpose', async () => {
    const { dependencies } = await json<{ dependencies: Record<string, string> }>('package.json');
    const text = await readFile(join(packageRoot(), 'CONTRIBUTING.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([^`]+)` +\| \d+ +\| [\d.]+ +\| \S.* \|$/gm)].map(([, name]) => name);
    expect(rows).to.deep.equal(Object.keys(dependencies).sort());
  });

  it('run no script when they are installed with the service', async () => {
    const { packages } = await json<{ packages: Record<string, Installed> }>('package-lock.json');
    const installed = Object.entries(packages).filter(([, { dev }]) => dev !== true);
    expect(installed.length).to.be.greaterThan(100);
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name)).to.deep.equal([]);
  });
});

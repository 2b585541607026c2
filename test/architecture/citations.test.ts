/**
 * Every citation of the law in code, tests and documents names a page and a heading of docs/spec.
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { citationsOf, headingsOf, unresolved } from './citations.js';
import { projectRoot } from './tree.js';

const ROOT = projectRoot();
const SPEC = join(ROOT, 'docs', 'spec');
const SKIPPED = /^(node_modules|dist|data|\.git|docs\/spec|test\/fixtures\/vectors|test\/architecture\/citations)/;
const TEXT = /\.(ts|mts|mjs|js|md|json|hbs|css|sh|py|go|java|rb|php|yml)$/;

async function files(folder = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(ROOT, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.test(path)) continue;
    if (entry.isDirectory()) found.push(...(await files(path)));
    else if (TEXT.test(entry.name) && entry.name !== 'package-lock.json') found.push(path);
  }
  return found;
}

async function law(): Promise<Map<string, string[]>> {
  const pages = new Map<string, string[]>();
  for (const name of await readdir(SPEC)) {
    const page = /^(\d\d)-.*\.md$/.exec(name)?.[1];
    if (page !== undefined) pages.set(page, headingsOf(await readFile(join(SPEC, name), 'utf8')));
  }
  return pages;
}

describe('architecture: citations', () => {
  it('refer to existing headings of docs/spec', async () => {
    const pages = await law();
    let seen = 0;
    const faults: string[] = [];
    for (const file of await files()) {
      for (const citation of citationsOf(await readFile(join(ROOT, file), 'utf8'))) {
        seen += 1;
        const fault = unresolved(citation, pages);
        if (fault !== null) faults.push(`${file}:${citation.line}: ${fault}`);
      }
    }
    expect(faults.join('\n')).to.equal('');
    expect(seen).to.be.greaterThan(300);
  });

  it('are found and checked in wrapped comments', () => {
    const pages = new Map([['20', ['leases', 'severity']]]);
    const checked = (text: string): (string | null)[] => citationsOf(text).map((one) => unresolved(one, pages));
    expect(checked('/** One (contract 20, leases). */')).to.deep.equal([null]);
    expect(checked('/**\n * Two of contract\n * 20, leases: … and contract 20 whole.\n */')).to.deep.equal([
      null,
      null,
    ]);
    expect(checked('// contract 20,\n// severity and leases')).to.deep.equal([null]);
    expect(checked('contract 20, leasesome')).to.deep.equal(['contract 20 has no heading "leasesome"']);
    expect(checked('contract 99')).to.deep.equal(['there is no contract 99']);
    expect(citationsOf('\n\n// contract 20, leases')[0]?.line).to.equal(3);
  });
});

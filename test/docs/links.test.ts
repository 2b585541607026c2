/**
 * Links and paths of the documents lead somewhere, and every decision stands in the index with its
 * status.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { MemoryManual } from '../../adapters/memory/manual.js';
import { findPackageRoot } from '../../config/load.js';
import { GuideIndex } from '../../plugins/manual/guides.js';
import { toAnchor } from '../../ports/manual.js';

const ROOT = findPackageRoot();
const SKIPPED = /^(node_modules|dist|build|data|\.git|docs\/spec\/\d|test\/fixtures)/;

async function pages(folder = ''): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(ROOT, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (SKIPPED.test(path)) continue;
    if (entry.isDirectory()) found.push(...(await pages(path)));
    else if (entry.name.endsWith('.md')) found.push(path);
  }
  return found;
}

/** Markdown without what stands in code. */
const prose = (text: string): string => text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');

async function anchorsOf(page: string): Promise<Set<string>> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const headings = text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '').matchAll(/^#+ +(.+)$/gm);
  return new Set([...headings].map(([, heading = '']) => toAnchor(heading)));
}

async function faultsOf(page: string): Promise<string[]> {
  const faults: string[] = [];
  for (const [, target = ''] of prose(await readFile(join(ROOT, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z][a-z+.-]*:/i.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
    if (!existsSync(join(ROOT, file))) faults.push(`${page}: no file ${target}`);
    else if (anchor !== undefined && file.endsWith('.md') && !(await anchorsOf(file)).has(anchor)) {
      faults.push(`${page}: no heading ${target}`);
    }
  }
  return faults;
}

describe('the docs', () => {
  it('link only to existing files and headings', async () => {
    const all = await pages();
    expect(all.length).to.be.greaterThan(50);
    const faults = await Promise.all(all.map(faultsOf));
    expect(faults.flat().join('\n')).to.equal('');
  });

  it('index every decision with its title and status', async () => {
    const folder = join(ROOT, 'docs', 'decisions');
    const index = await readFile(join(folder, 'README.md'), 'utf8');
    const records = (await readdir(folder)).filter((name) => /^\d{3}-.*\.md$/.test(name)).sort();
    const rows = [...index.matchAll(/^\| \[(\d{3})\]\(([^)]+)\) +\| (.+?) +\| (accepted|replaced|rejected)\b.*\|$/gm)];
    expect(rows.map(([, , file]) => file)).to.deep.equal(records);
    for (const [, number = '', file = '', title = ''] of rows) {
      expect(file.slice(0, 3)).to.equal(number);
      const [head = ''] = (await readFile(join(folder, file), 'utf8')).split('\n');
      expect(head).to.match(new RegExp(`^# ${number} `));
      expect(head.slice(6).replace(/^[—–] /, ''), file).to.equal(title);
    }
  });

  it('limit each decision record to 300 words, with the standard headings', async () => {
    const folder = join(ROOT, 'docs', 'decisions');
    for (const name of (await readdir(folder)).filter((entry) => /^\d{3}-.*\.md$/.test(entry))) {
      const text = await readFile(join(folder, name), 'utf8');
      const words = text.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word));
      expect(words.length, name).to.be.at.most(300);
      const headings = [...text.matchAll(/^\*\*(Status|Context|Decision|Consequences)\b/gm)].map(
        ([, heading]) => heading,
      );
      expect(headings, name).to.deep.equal(['Status', 'Context', 'Decision', 'Consequences']);
    }
  });

  it('assign every guide to a titled group at /docs', async () => {
    const names = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
    const guides: Record<string, string> = Object.fromEntries(
      names.map((name) => [name.replace(/\.md$/, ''), `# ${name}`]),
    );
    guides['README'] = await readFile(join(ROOT, 'docs', 'README.md'), 'utf8');
    const groups = await new GuideIndex(new MemoryManual(guides)).listGroups();
    expect(groups.find(({ title }) => title === 'More')).to.equal(undefined);
  });

  it('refer to existing files in each row of "Where is …" in docs/architecture.md', async () => {
    const page = await readFile(join(ROOT, 'docs', 'architecture.md'), 'utf8');
    const table = /\n## Where is …\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const rows = table.split('\n').filter((line) => line.startsWith('| ') && !/^\| (-|What)/.test(line));
    expect(rows.length).to.be.at.least(20);
    for (const row of rows) {
      const paths = [...row.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)].map(([, path = '']) => path);
      expect(paths, row).not.to.have.length(0);
      for (const path of paths) expect(existsSync(join(ROOT, path)), `${path} of ${row}`).to.equal(true);
    }
  });

  it('generate heading anchors as code hosts do', () => {
    expect(toAnchor('Why is it `down`?')).to.equal('why-is-it-down');
  });
});

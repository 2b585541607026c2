/**
 * docs/alerts.yml: rules that promtool takes, over numbers that the service has, each with a
 * paragraph of the runbook.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPackageRoot } from '../../../config/load.js';
import { toAnchor } from '../../../ports/manual.js';
import { sources } from '../../architecture/tree.js';
import { isRequired } from '../../support/requirements.js';

const ROOT = findPackageRoot();
const RULES = join(ROOT, 'docs', 'alerts.yml');
const REQUIRED = isRequired('promtool');

/** The members of each rule, in the order of the file. */
async function rules(): Promise<{ name: string; text: string }[]> {
  const [, ...parts] = (await readFile(RULES, 'utf8')).split(/^ {6}- alert: /m);
  return parts.map((part) => ({ name: part.split('\n')[0] as string, text: part }));
}

describe('docs: Prometheus alerts', () => {
  it('are valid rules for promtool', function () {
    const { error, status, stderr } = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' });
    if (error && !REQUIRED) this.skip();
    expect([error, status, stderr]).to.deep.equal([undefined, 0, '']);
  });

  it('query only metrics of the service', async () => {
    const code = await Promise.all(
      (await sources(ROOT))
        .filter((file) => /^(plugins|adapters|kernel|composition|main)/.test(file))
        .map((file) => readFile(join(ROOT, file), 'utf8')),
    );
    const all = code.join('\n');
    for (const { name, text } of await rules()) {
      const requested = new Set([...text.matchAll(/\baos_[a-z_]+/g)].map(([number]) => number.replace(/_bucket$/, '')));
      for (const number of requested) expect(all.includes(`'${number}'`), `${number} of ${name}`).to.equal(true);
    }
  });

  it('match the paragraphs of the runbook one-to-one', async () => {
    const page = await readFile(join(ROOT, 'docs', 'runbook.md'), 'utf8');
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    const all = await rules();
    expect(headings).to.deep.equal(all.map(({ name }) => name));
    for (const { name, text } of all) expect(text, name).to.include(`runbook: docs/runbook.md#${toAnchor(name)}\n`);
  });
});

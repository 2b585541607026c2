/**
 * `aos plugin check` ends with its answer, whatever the plugin leaves behind (contract 95,
 * amendments).
 */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, buildServiceEnv } from '../../support/service.js';

const open =
  "setInterval(() => undefined, 1000); const { createServer } = await import('node:net'); createServer().listen(0);";
/** Code of the module, code of setup, and the reason; null: the plugin is in order. */
const PLUGINS: Record<string, [imports: string, setup: string, reason: RegExp | null]> = {
  opens: ['', open, null],
  opensatimport: [open, '', null],
  failsandopens: [open, `${open} throw new Error('out of order');`, /^out of order$/],
  throwsinatimer: ['', "setTimeout(() => { throw new Error('out of order'); }, 1);", /^out of order$/],
  throwsinatimerofimport: ["setTimeout(() => { throw new Error('out of order'); }, 1);", '', /^out of order$/],
  rejectsatext: ['', "void Promise.reject('no Error at all');", /no Error at all/],
  asksnobody: ['', "(await import('node:http')).get('http://127.0.0.1:1/');", /ECONNREFUSED/],
  throwsatimport: [`${open} throw new Error('out of order');`, '', /out of order/],
};

describe('aos plugin check', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-plugins-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [id, [imports, setup, reason]] of Object.entries(PLUGINS)) {
    it(`exits after printing the result: ${id}`, async () => {
      const path = join(folder, `${id}.mjs`);
      const manifest = `id: '${id}', version: '1.0.0', api: 1, title: 'Outside'`;
      await writeFile(
        path,
        `${imports}\nexport default { ${manifest}, setup: async () => { ${setup} return {}; } };\n`,
      );
      const { code, stdout, stderr } = await runCli(buildServiceEnv(folder), ['plugin', 'check', path, '--json']);
      expect(stderr).to.equal('');
      const answer = JSON.parse(stdout) as { ok: boolean; reason: string | null };
      expect([code, answer.ok], stdout).to.deep.equal(reason === null ? [0, true] : [1, false]);
      if (reason === null) expect(answer.reason).to.equal(null);
      else expect(answer.reason).to.match(reason);
    });
  }

  it('lets other commands exit too when a plugin leaves a timer open', async () => {
    const env = { ...buildServiceEnv(join(folder, 'data')), SVC_PLUGINS: JSON.stringify([join(folder, 'opens.mjs')]) };
    const { code, stderr } = await runCli(env, ['help']);
    expect([code, stderr]).to.deep.equal([0, '']);
  });
});

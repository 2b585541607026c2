/** What contract 00 says of the program itself, and of two of them. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, expectError } from '../../conformance/wire.js';
import { runCli, TestService } from '../../support/service.js';

describe('conformance: the program', () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken('projects:manage');
  });
  after(() => service.dispose());

  it('runs without a shared key by rejecting every key, and writes server.json for any store', async () => {
    const other = await TestService.createStarted({ SVC_SHARED_KEY: '', SVC_STORAGE_URL: 'memory:' });
    try {
      for (const authorization of ['Bearer ', 'Bearer', 'Bearer ""']) {
        const answer = await ask(other, 'POST', '/api/admin/v1/migrate', { headers: { authorization } });
        expectError(answer, 401, 'unauthorized');
      }
      const foreign = await ask(other, 'GET', '/api/tokens/v1/self', { token: token });
      expectError(foreign, 401, 'unauthorized');
      const file = join(other.dataDir, 'server.json');
      expect(other.url).to.not.equal(service.url);
      expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({ pid: other.child?.pid, url: other.url });
      expect(await other.stop()).to.equal(0);
      const left = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => error.code);
      expect(left).to.equal('ENOENT');
    } finally {
      await other.dispose();
    }
  });

  it('reports an invalid slug on the command line in plain words, with the envelope and exit 1', async () => {
    const { code, stdout } = await runCli(service.env, ['project', 'create', 'Not A Slug', '--json']);
    expect(code).to.equal(1);
    const { status, error } = JSON.parse(stdout) as { status: string; error: { code: string; fields: object } };
    expect([status, error.code]).to.deep.equal(['error', 'validation_failed']);
    expect(error.fields).to.deep.equal({
      slug: 'Use at most 64 lower-case letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  });
});

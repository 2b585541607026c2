/**
 * What a monitor's page offers to copy does what it says, where its program is on this machine
 * (contract 30).
 */
import { execFile } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildSchedulerSnippets, buildReportingSnippets } from '../../../../../plugins/watchdog/pages/snippets.js';

const TOKEN = `wd_live_${'a1'.repeat(21)}b`;

describe('watchdog: monitor snippets', function () {
  const got: string[] = [];
  const server = http.createServer((request, response) => {
    request.resume();
    got.push(`${request.method} ${request.url?.replace(TOKEN, 'T')}`);
    response.end('OK');
  });
  let url = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => got.splice(0));
  after(() => new Promise((resolve) => server.close(resolve)));

  /** Exit code; null: the program is not here. */
  const run = (program: string, args: string[]): Promise<number | null> =>
    new Promise((resolve) => {
      execFile(program, args, { timeout: 120_000 }, (error) => {
        const code = (error as { code?: number | string } | null)?.code ?? 0;
        resolve(code === 'ENOENT' ? null : Number(code));
      });
    });
  const textOf = (begin: string): string =>
    buildSchedulerSnippets(url, TOKEN).find(({ label }) => label.startsWith(begin))?.text ?? '';

  it('contain the token or its secret, and fit in a file', () => {
    for (const { label, text } of buildSchedulerSnippets(url, TOKEN)) {
      expect(text.includes(TOKEN) || text.includes('SVC_TOKEN'), label).to.equal(true);
      expect(text, label).not.to.include('\t');
    }
  });

  it('run with curl', async function () {
    const line = buildReportingSnippets(url, 'a', TOKEN).find(({ label }) => label === 'Send a heartbeat');
    if ((await run('curl', ['--version'])) === null) this.skip();
    expect(await run('sh', ['-c', line?.text ?? ''])).to.equal(0);
    expect(got).to.deep.equal(['GET /ping/T']);
  });

  it('run with Python, for success and failure of the job', async function () {
    const text = textOf('Python');
    const code = await run('python3', ['-c', text]);
    if (code === null) this.skip();
    expect(code).to.equal(0);
    expect(got).to.deep.equal(['POST /ping/T/start', 'POST /ping/T']);
    got.splice(0);
    expect(await run('python3', ['-c', text.replace('pass  # the work', 'raise ValueError("disk full")')])).to.equal(1);
    expect(got).to.deep.equal(['POST /ping/T/start', 'POST /ping/T/fail']);
  });

  it('contain shell commands for systemd and Kubernetes', async function () {
    if ((await run('curl', ['--version'])) === null) this.skip();
    for (const [, command = ''] of textOf('systemd').matchAll(/^Exec\w+=\/usr\/bin\/(.+)$/gm)) {
      expect(await run('sh', ['-c', command])).to.equal(0);
    }
    const line = /- (\/usr\/local\/bin\/work.+)$/m.exec(textOf('Kubernetes'))?.[1] ?? '';
    const failed = line.replace('/usr/local/bin/work', '(exit 3)').replace('$SVC_TOKEN', TOKEN);
    expect(await run('sh', ['-c', failed])).to.equal(3);
    expect(got).to.deep.equal(['GET /ping/T', 'GET /ping/T/fail', 'GET /ping/T/3']);
  });
});

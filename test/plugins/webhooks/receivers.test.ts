/** The verification code of docs/webhooks.md, run in the languages that are on this machine, against our own signatures. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownSignature } from '../../../plugins/webhooks/signature.js';
import { projectRoot } from '../../architecture/tree.js';

const SECRET = 'whsec_test_0123456789abcdef';
const AT = 1_790_000_000;
const BODY =
  '{"id":"evt_01","event":"monitor.down","timestamp":"2026-09-21T14:13:20.000Z","project_slug":null,"data":{"source":"web-1","state":"down"}}';
const folder = join(projectRoot(), 'test', 'fixtures', 'webhooks');

const LANGUAGES = [
  { name: 'Node.js', file: 'verify.mjs', command: [process.execPath], probe: ['--version'], fence: 'js' },
  { name: 'Python', file: 'verify.py', command: ['python3'], probe: ['--version'], fence: 'python' },
  { name: 'Go', file: 'verify.go', command: ['go', 'run'], probe: ['version'], fence: 'go' },
  { name: 'Java', file: 'Verify.java', command: ['java'], probe: ['--version'], fence: 'java' },
] as const;

function run(command: readonly string[], args: readonly string[], input: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const [program = '', ...first] = command;
    const child = execFile(program, [...first, ...args], { timeout: 60_000 }, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else if (error.code === 'ENOENT') resolve(null);
      else reject(error);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

describe('verification code for receivers', function () {
  this.timeout(180_000);

  for (const { name, file, command, probe, fence } of LANGUAGES) {
    it(`${name}: takes what we sign and nothing else`, async function () {
      if ((await run([command[0]], probe, '')) === null) this.skip();
      const signature = ownSignature(SECRET, AT, BODY);
      const utf8 = '{"title":"Größe 🙂"}';
      const cases: [string, string[], string, string][] = [
        ['the vector', [SECRET, `${AT}`, signature, `${AT + 10}`], BODY, 'valid'],
        ['text beyond ASCII', [SECRET, `${AT}`, ownSignature(SECRET, AT, utf8), `${AT}`], utf8, 'valid'],
        ['a changed body', [SECRET, `${AT}`, signature, `${AT}`], BODY.replace('web-1', 'web-2'), 'invalid'],
        ['another secret', ['other', `${AT}`, signature, `${AT}`], BODY, 'invalid'],
        ['another timestamp', [SECRET, `${AT + 1}`, signature, `${AT}`], BODY, 'invalid'],
        ['an old one', [SECRET, `${AT}`, signature, `${AT + 301}`], BODY, 'invalid'],
        ['no signature', [SECRET, `${AT}`, '', `${AT}`], BODY, 'invalid'],
        ['no timestamp', [SECRET, '', signature, `${AT}`], BODY, 'invalid'],
        ['a timestamp that is none', [SECRET, 'soon', signature, `${AT}`], BODY, 'invalid'],
      ];
      for (const [what, args, body, expected] of cases)
        expect(await run([...command, join(folder, file)], args, body), what).to.equal(expected);
    });

    it(`${name}: the guide shows this very code`, async () => {
      const source = await readFile(join(folder, file), 'utf8');
      const shown = /^\s*(?:\/\/|#) \[verify\]\n([\s\S]*?)\n\s*(?:\/\/|#) \[\/verify\]$/m.exec(source)?.[1]?.trimEnd();
      expect(shown).to.be.a('string');
      const guide = await readFile(join(projectRoot(), 'docs', 'webhooks.md'), 'utf8');
      expect(guide).to.include(`\`\`\`${fence}\n${shown}\n\`\`\`\n`);
    });
  }
});

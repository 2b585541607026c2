/**
 * The files of a nightly update for each scheduler (contract 90, amendments: `--action schedule`).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import {
  checkCommand,
  buildCronLine,
  buildLaunchdPlist,
  pickNightlyTime,
  quoteForWindows,
  buildSystemdUnits,
  buildTaskXml,
  parseCronDir,
  parseLaunchdDir,
  parseSystemdDir,
  parseTaskDir,
  type NightlyUpdate,
} from '../../../../clients/agent/schedule/units.js';

const update = (word: string): NightlyUpdate => ({
  project: 'shop',
  dir: word,
  command: ['/usr/local/bin/update-agent', '--action', 'update', '--dir', word],
});
const WORDS = [
  '/opt/shop',
  "/opt/o'clock 100 %",
  '/opt/"quoted" $HOME',
  '/opt/größe & <x>',
  '/opt/back\\slash\\',
  '/opt/`id`;#',
];

/** Texts of the elements with a name, in the order of the document. */
function textsFrom(xml: string, name: string): string[] {
  const texts: string[] = [];
  let path: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    path = [...path, tag.name];
    if (tag.name === name) texts.push('');
  });
  parser.on('closetag', () => void (path = path.slice(0, -1)));
  parser.on('text', (text) => {
    if (path.at(-1) === name) texts[texts.length - 1] += text;
  });
  parser.write(xml).close();
  return texts;
}

/** What CommandLineToArgvW makes of a line. */
function splitWindows(line: string): string[] {
  const words: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/"((?:\\"|(?:\\\\)*(?!")[^"]|\\\\)*)"|(\S+)/g))
    words.push(
      plain ??
        (quoted ?? '').replaceAll(
          /(\\+)("|$)/g,
          (_all, slashes: string, end: string) => '\\'.repeat(Math.floor(slashes.length / 2)) + end,
        ),
    );
  return words;
}

describe('update-agent: scheduler units for the nightly update', () => {
  for (const word of WORDS) {
    it(`quotes ${word} for cron so that the shell restores the original`, () => {
      const line = buildCronLine(update(word), { hour: 3, minute: 7 });
      expect(line)
        .to.match(/^7 3 \* \* \* /)
        .and.match(/ >\/dev\/null 2>&1 # aos-update:shop$/);
      const forShell = line
        .replace(/^7 3 \* \* \* /, '')
        .replaceAll('\\%', '%')
        .replace(/ >\/dev\/null.*$/, '');
      const words = forShell.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
      expect(words.at(-1)?.replaceAll(/'([^']*)'|\\(.)/g, '$1$2')).to.equal(word);
    });

    it(`parses ${word} back from the unit of each scheduler`, () => {
      const command = [...update(word).command, '--restart', '--ca-file=/etc/ca "x" $.pem'];
      const found = { ...update(word), command };
      const time = { hour: 3, minute: 7 };
      expect(parseCronDir(buildCronLine(found, time))).to.equal(word);
      expect(parseSystemdDir(buildSystemdUnits(found, '/')[0]?.content ?? '')).to.equal(word);
      expect(parseLaunchdDir(buildLaunchdPlist(found, '/', time).content)).to.equal(word);
      if (!word.includes('"')) expect(parseTaskDir(buildTaskXml(found, true))).to.equal(word);
    });

    it(`quotes ${word} for systemd`, () => {
      const [service, timer] = buildSystemdUnits(update(word), '/etc/systemd/system');
      expect(service?.path).to.equal('/etc/systemd/system/update-agent-shop.service');
      expect(timer?.content).to.include('Persistent=yes').and.include('WantedBy=timers.target');
      const last = /"((?:[^"\\]|\\.)*)"$/m.exec(/^ExecStart=(.*)$/m.exec(service?.content ?? '')?.[1] ?? '')?.[1] ?? '';
      expect(last.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$')).to.equal(word);
    });

    it(`escapes ${word} in the XML of launchd and of the Task Scheduler`, () => {
      const plist = buildLaunchdPlist(update(word), '/Library/LaunchDaemons', { hour: 2, minute: 5 });
      expect(textsFrom(plist.content, 'string').at(-1)).to.equal(word);
      const task = buildTaskXml(update(word), true);
      expect(splitWindows(textsFrom(task, 'Arguments')[0] ?? '').at(-1)).to.equal(word);
      expect(textsFrom(task, 'MultipleInstancesPolicy')).to.deep.equal(['IgnoreNew']);
      expect(textsFrom(task, 'StartWhenAvailable')).to.deep.equal(['true']);
    });
  }

  it('runs the task as SYSTEM when allowed, and otherwise as the user without a stored password', () => {
    expect(buildTaskXml(update('C:\\shop'), true)).to.include('S-1-5-18');
    expect(buildTaskXml(update('C:\\shop'), false))
      .to.include('InteractiveToken')
      .and.not.include('S-1-5-18');
  });

  it('doubles backslashes before a quote on Windows', () => {
    expect(quoteForWindows('C:\\Program Files\\')).to.equal('"C:\\Program Files\\\\"');
    expect(quoteForWindows('C:\\shop')).to.equal('C:\\shop');
  });

  it('chooses the same time of night for the same machine', () => {
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const { hour, minute } = pickNightlyTime(seed);
        expect(hour).to.be.within(1, 4);
        expect(minute).to.be.within(0, 59);
        expect(pickNightlyTime(seed)).to.deep.equal({ hour, minute });
      }),
    );
  });

  it('rejects a directory that contains a line break', () => {
    expect(() => checkCommand(update('/opt/a\nb'), 'cron')).to.throw('control characters');
  });

  it('rejects variables that the Task Scheduler would expand, and accepts a single %', () => {
    expect(() => checkCommand(update('C:\\%TEMP%\\shop'), 'task')).to.throw('%TEMP%');
    expect(() => checkCommand(update('C:\\100 %'), 'task')).to.not.throw();
    expect(() => checkCommand(update('/opt/%TEMP%'), 'cron')).to.not.throw();
  });

  for (const program of ["/opt/o'clock/agent", '/opt/"x"/agent', '/opt/back\\slash/agent'])
    it(`rejects the program name ${program}, which systemd cannot start`, () => {
      const nightly: NightlyUpdate = { project: 'shop', dir: '/x', command: [program, "it's"] };
      expect(() => checkCommand(nightly, 'systemd')).to.throw(program);
      expect(() => checkCommand(nightly, 'cron')).to.not.throw();
      expect(() => checkCommand({ ...nightly, command: ['/opt/agent', program] }, 'systemd')).to.not.throw();
    });

  it('does not escape $ in the program path, where systemd expands no variables', () => {
    const [service] = buildSystemdUnits({ project: 'shop', dir: '/x', command: ['/opt/a$b %/node', '/opt/a$b'] }, '/');
    expect(service?.content).to.include('ExecStart="/opt/a$b %%/node" "/opt/a$$b"\n');
  });
});

/** Arguments and options of commands. */
import { expect } from 'chai';
import { parseCommand, UsageError } from '../../../adapters/cli/usage.js';
import type { CommandSpec } from '../../../kernel/contract/index.js';

const SPEC: CommandSpec = {
  name: 'token create',
  summary: 'Create a token.',
  args: ['project', 'note?'],
  options: {
    name: { type: 'string', summary: 'Its name', required: true },
    kind: { type: 'string', summary: 'Its kind', default: 'master' },
    force: { type: 'boolean', summary: 'Creates another one' },
  },
  run: async () => ({ json: {}, text: '' }),
};

describe('cli: arguments and options', () => {
  it('returns arguments, options with their defaults, and whether JSON is requested', () => {
    expect(parseCommand(SPEC, ['shop', '--name', 'ci', '--force', '--json'])).to.deep.equal({
      args: ['shop'],
      options: { name: 'ci', kind: 'master', force: true },
      json: true,
      help: false,
    });
  });

  it('returns the help request, even when arguments are missing', () => {
    for (const option of ['--help', '-h']) expect(parseCommand(SPEC, [option])).to.include({ help: true, json: false });
  });

  for (const [words, message] of [
    [['shop'], '--name is missing'],
    [['--name', 'ci'], '<project> is missing'],
    [['shop', 'note', 'more', '--name', 'ci'], 'unexpected argument more'],
    [['shop', '--name', 'ci', '--colour'], 'unknown option --colour'],
    [['shop', '--name'], '--name requires a value'],
  ] as const)
    it(`rejects ${words.join(' ')}: ${message}`, () => {
      expect(() => parseCommand(SPEC, words))
        .to.throw(UsageError, message)
        .with.property('help')
        .that.matches(/^Usage: aos token create <project> \[<note>\] --name <text> \[--kind <text>\] \[--force\]/);
    });
});

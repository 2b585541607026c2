import { expect } from 'chai';
import { matchCommand, formatUnknownCommand } from '../../../adapters/cli/help.js';
import { formatHelp, parseCommand, formatUsage, UsageError } from '../../../adapters/cli/usage.js';

const user = {
  name: 'user create',
  summary: 'Create an account',
  options: {
    username: { type: 'string', value: 'name', summary: 'The account', required: true, positional: true },
    role: { type: 'string', value: 'admin|member', summary: 'Its role', required: true },
    'password-stdin': { type: 'boolean', summary: 'Read the password', env: 'SVC_X' },
  },
} as const;
const COMMANDS = ['serve', 'migrate', 'token create', 'token list', 'user create', 'plugin list'].map((name) => ({
  name,
  summary: name,
}));

describe('cli: help, placeholders and suggestions', () => {
  it('shows meaningful placeholders, and the environment variable of an option', () => {
    expect(formatUsage(user)).to.equal('aos user create <name> --role <admin|member> [--password-stdin] [--json]');
    expect(formatHelp(user))
      .to.match(/--role <admin\|member> +Its role\n/)
      .and.include('(environment: SVC_X)');
  });

  const read: [string, string[], object][] = [
    ['an argument in place of its option', ['ada', '--role', 'admin'], { username: 'ada', role: 'admin' }],
    ['the option itself', ['--username', 'ada', '--role', 'admin'], { username: 'ada', role: 'admin' }],
    ['both with one value', ['ada', '--username=ada', '--role', 'admin'], { username: 'ada', role: 'admin' }],
  ];
  for (const [name, words, options] of read) {
    it(`accepts ${name}`, () => expect({ ...parseCommand(user, words).options }).to.deep.equal(options));
  }

  const rejected: [string[], string][] = [
    [['--role', 'admin'], '<name> is missing'],
    [['ada'], '--role is missing'],
    [['ada', '--username', 'bob', '--role', 'admin'], '<name> is given twice, as ada and with --username'],
    [['ada', 'bob', '--role', 'admin'], 'unexpected argument bob'],
    [['ada', '--rolle', 'admin'], 'unknown option --rolle; did you mean --role?'],
    [['ada', '--nothing-like-it'], 'unknown option --nothing-like-it'],
    [['ada', '-x'], 'unknown option -x'],
    [['ada', '--role'], '--role requires a value'],
    [['ada', '--role', 'admin', '--json=yes'], '--json does not accept a value'],
  ];
  for (const [words, message] of rejected) {
    it(`rejects "${words.join(' ')}" with: ${message}`, () => {
      expect(() => parseCommand(user, words)).to.throw(UsageError, new RegExp(`^${message.replaceAll('?', '\\?')}$`));
    });
  }

  const unknown: [string[], string][] = [
    [['serv'], 'unknown command "serv"; did you mean "serve"?'],
    [['tokn', 'create'], 'unknown command "tokn create"; did you mean "token create"?'],
    [['token', 'creat'], 'unknown command "token creat"; did you mean "token create"?'],
    [['tokens'], 'unknown command "tokens"; did you mean "token"?'],
    [['token', 'frobnicate'], 'unknown command "token frobnicate"; "aos token" has create, list'],
    [['token'], '"aos token" needs one of: create, list'],
    [['frobnicate'], 'unknown command "frobnicate"; run "aos help" for the list'],
  ];
  for (const [words, message] of unknown) {
    it(`rejects the command "${words.join(' ')}" with: ${message}`, () => {
      expect(matchCommand(COMMANDS, words)).to.equal(null);
      expect(formatUnknownCommand(COMMANDS, words)).to.equal(message);
    });
  }
});

import type { CommandCall, CommandResult, CommandSpec, Ids } from '../../../kernel/contract/index.js';
import type { CommandLineActor } from '../../../ports/domain/audit.js';
import { formatTable } from '../../../lib/format-table.js';
import { ROLES, type AccountView } from '../model/account.js';
import type { AccountService } from '../accounts/accounts.js';

const toCommandActor = (command: string): CommandLineActor => `command line: aos user ${command}`;

type Options = NonNullable<CommandSpec['options']>;

const USERNAME_OPTION: Options = {
  username: { type: 'string', value: 'name', summary: 'The account’s name', required: true, positional: true },
};
const ROLE_OPTION: Options = {
  role: { type: 'string', value: ROLES.join('|'), summary: `One of ${ROLES.join(', ')}`, required: true },
};
const PASSWORD_OPTION: Options = {
  'password-stdin': {
    type: 'boolean',
    summary: 'Read the password from standard input (default: a random one, shown once)',
  },
};

async function readPassword(call: CommandCall, ids: Ids): Promise<{ password: string; shown: { password?: string } }> {
  if (call.options['password-stdin'] === true)
    return { password: (await call.stdin()).replace(/\r?\n$/, ''), shown: {} };
  const password = ids.secret(20);
  return { password, shown: { password } };
}

const toSummary = ({ id, username, role, disabled }: AccountView): object => ({ id, username, role, disabled });
const formatPasswordLine = (shown: { password?: string }): string =>
  shown.password === undefined ? '' : `\npassword: ${shown.password}`;

export function buildUserCommands(accounts: AccountService, ids: Ids): CommandSpec[] {
  const idOf = async ({ options }: CommandCall): Promise<string> =>
    (await accounts.findByUsername(String(options['username'] ?? ''))).id;

  const change = (
    name: string,
    summary: string,
    options: Options,
    run: (call: CommandCall, id: string) => Promise<AccountView>,
    say: (account: AccountView) => string,
  ): CommandSpec => ({
    name: `user ${name}`,
    summary,
    options: { ...USERNAME_OPTION, ...options },
    run: async (call): Promise<CommandResult> => {
      const account = await run(call, await idOf(call));
      return { json: { ...toSummary(account), totp: account.totp }, text: say(account) };
    },
  });

  return [
    {
      name: 'user create',
      summary: 'Create an account',
      options: { ...USERNAME_OPTION, ...ROLE_OPTION, ...PASSWORD_OPTION },
      run: async (call) => {
        const { password, shown } = await readPassword(call, ids);
        const { username, role } = call.options;
        const account = await accounts.create(toCommandActor('create'), {
          username: String(username ?? ''),
          role: String(role ?? ''),
          password,
        });
        const json = { id: account.id, username: account.username, role: account.role, ...shown };
        return { json, text: `created ${account.username} (${account.role})${formatPasswordLine(shown)}` };
      },
    },
    {
      name: 'user passwd',
      summary: 'Set the password of an account and end its sessions',
      options: { ...USERNAME_OPTION, ...PASSWORD_OPTION },
      run: async (call) => {
        const account = await idOf(call);
        const { password, shown } = await readPassword(call, ids);
        const changed = await accounts.setPassword(toCommandActor('passwd'), account, password);
        return {
          json: { ...toSummary(changed), ...shown },
          text: `password of ${changed.username} set${formatPasswordLine(shown)}`,
        };
      },
    },
    change(
      'role',
      'Change the role of an account and end its sessions',
      ROLE_OPTION,
      (call, account) => accounts.setRole(toCommandActor('role'), account, String(call.options['role'] ?? '')),
      (account) => `${account.username} is now ${account.role}`,
    ),
    change(
      'disable',
      'Disable an account and end its sessions',
      {},
      (_call, account) => accounts.setDisabled(toCommandActor('disable'), account, true),
      (account) => `disabled ${account.username}`,
    ),
    change(
      'enable',
      'Enable a disabled account',
      {},
      (_call, account) => accounts.setDisabled(toCommandActor('enable'), account, false),
      (account) => `enabled ${account.username}`,
    ),
    change(
      'totp',
      'Remove TOTP and passkeys of an account whose devices are lost, and end its sessions',
      {},
      (_call, account) => accounts.resetTotp(toCommandActor('totp'), account),
      (account) => `second factor of ${account.username} removed`,
    ),
    {
      name: 'user delete',
      summary: 'Delete an account',
      options: USERNAME_OPTION,
      run: async (call) => {
        const account = await accounts.findByUsername(String(call.options['username'] ?? ''));
        await accounts.remove(toCommandActor('delete'), account.id);
        return {
          json: { id: account.id, username: account.username, deleted: true },
          text: `deleted ${account.username}`,
        };
      },
    },
    {
      name: 'user list',
      summary: 'List the accounts',
      run: async () => {
        const items = await accounts.list();
        const rows = items.map(({ username, role, disabled, totp, last_login_at }) => [
          username,
          role,
          disabled ? 'disabled' : 'active',
          totp ? 'on' : 'off',
          last_login_at ?? 'never',
        ]);
        return { json: { items }, text: formatTable(['USERNAME', 'ROLE', 'STATE', 'TOTP', 'LAST LOGIN'], rows) };
      },
    },
  ];
}

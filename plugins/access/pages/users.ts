import joi from 'joi';
import {
  createCsvFile,
  Redirect,
  View,
  type Reply,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { toAccountView, isActiveAdmin, ROLES, type AccountView } from '../model/account.js';
import type { AccessServices } from '../services.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
import { buildInvitationActions, toInvitationRow } from './invitations.js';
import { readField, renderOnError, buildPageActions, requireSession } from './form.js';

const adminAccess = { session: 'admin' } as const;
const title = 'Members';
const params = joi.object({ id: joi.string().guid().required() });

const EXPORT_PAGE_SIZE = 200;
const CSV_COLUMNS = [
  'username',
  'full_name',
  'email',
  'role',
  'disabled',
  'totp',
  'passkeys',
  'issuer',
  'created_at',
  'last_login_at',
] as const satisfies readonly (keyof AccountView)[];

export function buildUserPages(services: AccessServices): PageSpec[] {
  const { accounts, sessions, invitations } = services;

  const list = async (problem: Partial<FormRejection> & { form?: object; invited?: object } = {}): Promise<View> =>
    new View('users', {
      items: await accounts.list(),
      invitations: (await invitations.listPending()).map(toInvitationRow),
      can_mail: invitations.canMail,
      roles: ROLES,
      ...problem,
    });

  const exportAccounts = async (): Promise<Reply> => {
    const csv = await formatCsvPages(
      CSV_COLUMNS,
      (after) => accounts.listPage(EXPORT_PAGE_SIZE, after),
      (account) => CSV_COLUMNS.map((column) => account[column]),
    );
    return createCsvFile('members', csv);
  };

  const detail = async (request: HttpRequest, problem: Partial<FormRejection> = {}): Promise<View> => {
    const account = await accounts.getAccount(request.params['id'] ?? '');
    const admins = (await accounts.list()).filter((other) => isActiveAdmin(other) && other.id !== account.id);
    const last = isActiveAdmin(account) && admins.length === 0;
    const own = account.id === requireSession(request).account_id;
    const crumbs = [{ label: title, href: '/users' }, { label: account.username }];
    return new View('user', {
      title: account.username,
      account: toAccountView(account),
      roles: ROLES,
      sessions: (await sessions.list(account, '')).length,
      last,
      own,
      crumbs,
      ...problem,
    });
  };

  const form = buildPageActions(
    { path: '/users/{id}', title, access: adminAccess, input: { params } },
    (request, problem) => detail(request, problem),
  );

  const action = (
    name: string,
    run: (request: HttpRequest, id: string) => Promise<AccountView>,
    say: (account: AccountView) => string,
  ): PageSpec =>
    form(name, async (request, id) => {
      const account = await run(request, id);
      return new Redirect(`/users/${account.id}`, { tone: 'success', message: say(account) });
    });

  return [
    {
      path: '/users',
      title,
      nav: {
        section: 'administration',
        group: 'workspace',
        label: 'Members',
        icon: 'users',
        order: 20,
        also: ['accounts', 'invitations', 'users', 'passwords', 'people', 'roles', 'team'],
      },
      access: adminAccess,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: (request) => (request.query['format'] === 'csv' ? exportAccounts() : list()),
    },
    {
      method: 'POST',
      path: '/users',
      title,
      access: adminAccess,
      creates: true,
      handle: (request) => {
        const form = {
          username: readField(request, 'username'),
          role: readField(request, 'role'),
          full_name: readField(request, 'full_name'),
          email: readField(request, 'email'),
        };
        return renderOnError(
          async () => {
            const made = await accounts.create(requireSession(request), {
              ...form,
              email_verified: true,
              password: readField(request, 'password'),
            });
            return new Redirect('/users', { tone: 'success', message: `Account ${made.username} created.` });
          },
          (problem) => list({ ...problem, form }),
        );
      },
    },
    ...buildInvitationActions(services, list),
    { path: '/users/{id}', title, access: adminAccess, input: { params }, handle: (request) => detail(request) },
    action(
      'role',
      (request, id) => accounts.setRole(requireSession(request), id, readField(request, 'role')),
      (account) => `${account.username} is now ${account.role}. Sessions ended.`,
    ),
    action(
      'profile',
      (request, id) =>
        accounts.setProfile(requireSession(request), id, {
          full_name: readField(request, 'full_name'),
          email: readField(request, 'email'),
          email_verified: true,
        }),
      (account) => `Saved ${account.username}.`,
    ),
    action(
      'disable',
      (request, id) => accounts.setDisabled(requireSession(request), id, true),
      (account) => `Disabled ${account.username}. Sessions ended.`,
    ),
    action(
      'enable',
      (request, id) => accounts.setDisabled(requireSession(request), id, false),
      (account) => `Enabled ${account.username}.`,
    ),
    assertOtherAccount(
      action(
        'password',
        (request, id) => accounts.setPassword(requireSession(request), id, readField(request, 'password')),
        (account) => `Password of ${account.username} set. Sessions ended.`,
      ),
    ),
    assertOtherAccount(
      action(
        'totp-reset',
        (request, id) => accounts.resetTotp(requireSession(request), id),
        (account) => `${account.username} signs in without TOTP now.`,
      ),
    ),
    form('delete', async (request, id) => {
      const { username } = await accounts.getAccount(id);
      await accounts.remove(requireSession(request), id);
      return new Redirect('/users', { tone: 'success', message: `Deleted ${username}.` });
    }),
  ];
}

/** /account requires the password: a stolen session must not suffice. */
function assertOtherAccount(page: PageSpec): PageSpec {
  const message = 'Change your own password and 2FA here.';
  return {
    ...page,
    handle: (request) =>
      request.params['id'] === requireSession(request).account_id
        ? new Redirect('/account', { tone: 'warning', message })
        : page.handle(request),
  };
}

import joi from 'joi';
import {
  createCsvFile,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
  type Reply,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import type { Account } from '../model/account.js';
import { toAccountView } from '../model/account.js';
import type { AccessServices } from '../services.js';
import { DEVICE_COOKIE } from '../login/devices.js';
import { SESSION_LIFETIME_MS, SESSION_COOKIE } from '../sessions/sessions.js';
import { formatCsvRecords } from '../../../lib/text/csv.js';
import { formatBrowserName } from '../../../lib/text/browser-name.js';
import { listPasskeys } from '../passkeys/passkeys.js';
import { createPasswordDisabledError } from '../policy/sign-in-policy.js';
import { createPasskeyCookie, PASSKEY_COOKIE, readPasskey } from './login.js';
import { readField, renderOnError, requireSession } from './form.js';

const memberAccess = { session: 'member' } as const;

/** How long after the sign-in an account without a password can change its factors. */
const RECENT_SIGN_IN_MS = 10 * 60_000;
const title = 'Account';
const SESSION_COLUMNS = ['user_agent', 'address', 'current', 'created_at', 'last_seen_at', 'expires_at'] as const;

const readClockForm = (request: HttpRequest): object => ({
  timezone: readField(request, 'timezone'),
  hours: readField(request, 'hours'),
});

export function buildAccountPages(services: AccessServices): PageSpec[] {
  const { accounts, authenticator, credentials, sessions, totp, passkeys, policy, app, clock } = services;
  const own = (request: HttpRequest): Promise<Account> => accounts.getAccount(requireSession(request).account_id);

  const page = async (
    request: HttpRequest,
    problem: Partial<FormRejection> & { form?: string } = {},
  ): Promise<View> => {
    const account = await own(request);
    const list = await sessions.list(account, requireSession(request).session_id);
    return new View('account', {
      account: toAccountView(account),
      password: account.has_password !== false && policy.canUsePassword(account.role),
      must_enroll: policy.mustEnroll(account),
      recovery_left: account.totp_recovery.length,
      passkeys: listPasskeys(account),
      passkey_name: problem.form === 'passkeys' ? readField(request, 'passkey_name') : '',
      clock: problem.form === 'clock' ? readClockForm(request) : { timezone: account.timezone, hours: account.hours },
      own_timezone: app.timezone,
      zones: Intl.supportedValuesOf('timeZone'),
      now: clock.iso(),
      sessions: list.map((session) => Object.assign(session, { browser: formatBrowserName(session.user_agent) })),
      ...problem,
    });
  };

  const exportSessions = async (request: HttpRequest): Promise<Reply> => {
    const list = await sessions.list(await own(request), requireSession(request).session_id);
    return createCsvFile('sessions', formatCsvRecords(SESSION_COLUMNS, list));
  };

  /** @throws ServiceError conflict */
  const requireRecentSignIn = async (request: HttpRequest): Promise<void> => {
    if (await sessions.isRecent(requireSession(request).session_id, RECENT_SIGN_IN_MS)) return;
    throw conflict('This change needs a recent sign-in. Sign out, sign in again, and repeat it.');
  };

  /**
   * A stolen session must not suffice for a change of the factors.
   * @throws ServiceError validation_failed with `name`, unlike a lost session
   */
  const confirmed = async (request: HttpRequest, name: string): Promise<Account> => {
    const account = await own(request);
    if (account.has_password === false) {
      await requireRecentSignIn(request);
      return account;
    }
    try {
      await credentials.confirmPassword(
        account,
        readField(request, name),
        request.address,
        request.cookies[DEVICE_COOKIE],
      );
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'invalid_credentials') throw invalid({ [name]: 'is wrong' });
      throw error;
    }
    return account;
  };

  /** The change ended all sessions. */
  const renewed = async (request: HttpRequest, account: Account) => {
    await sessions.clear(account.id);
    const value = await sessions.open(account, { address: request.address, userAgent: request.headers['user-agent'] });
    return { name: SESSION_COOKIE, value, maxAgeSeconds: SESSION_LIFETIME_MS / 1000 };
  };

  const changePassword = async (request: HttpRequest): Promise<Redirect> => {
    if (!policy.canUsePassword(requireSession(request).role)) throw createPasswordDisabledError();
    const account = await confirmed(request, 'current_password');
    const password = readField(request, 'password');
    if (readField(request, 'password_again') !== password)
      throw invalid({ password_again: 'differs from the new password' });
    await accounts.setPassword(requireSession(request), account.id, password);
    const flash = {
      tone: 'success',
      message: 'Password changed. Sign in again.',
    } as const;
    return new Redirect('/login', flash).cookie({ name: SESSION_COOKIE, value: null });
  };

  const enrolment = async (request: HttpRequest, problem: Partial<FormRejection> = {}): Promise<View> =>
    new View('totp', { ...(await totp.getEnrolment(await own(request))), ...problem }).withSecret();

  const enable = async (request: HttpRequest): Promise<View> => {
    const done = await totp.enable(requireSession(request), await own(request), readField(request, 'code'));
    const cookie = await renewed(request, done.account);
    return new View('recovery-codes', {
      codes: done.recovery,
      csrf_token: authenticator.getCsrfToken(cookie.value),
    }).cookie(cookie);
  };

  const disable = async (request: HttpRequest): Promise<Redirect> => {
    const account = await totp.disable(requireSession(request), await confirmed(request, 'totp_password'));
    return new Redirect('/account', { tone: 'success', message: '2FA disabled.' }).cookie(
      await renewed(request, account),
    );
  };

  const beginPasskey = async (request: HttpRequest): Promise<Redirect> => {
    const account = await confirmed(request, 'passkey_password');
    const { session_id } = requireSession(request);
    const state = passkeys.beginRegistration(account, session_id, readField(request, 'passkey_name'));
    return new Redirect('/account/passkeys').cookie(createPasskeyCookie(state));
  };

  const createPasskey = async (request: HttpRequest): Promise<Redirect> => {
    const session = requireSession(request);
    const account = await passkeys.register(session, await own(request), session.session_id, readPasskey(request));
    return new Redirect('/account#passkeys', { tone: 'success', message: 'Passkey added. Other sessions ended.' })
      .cookie(createPasskeyCookie(null))
      .cookie(await renewed(request, account));
  };

  const removePasskey = async (request: HttpRequest): Promise<Redirect> => {
    await requireRecentSignIn(request);
    const account = await passkeys.remove(requireSession(request), await own(request), request.params['id'] ?? '');
    return new Redirect('/account#passkeys', {
      tone: 'success',
      message: 'Passkey removed. Other sessions ended.',
    }).cookie(await renewed(request, account));
  };

  const setClock = async (request: HttpRequest): Promise<Redirect> => {
    const [timezone, hours] = [readField(request, 'timezone').trim(), readField(request, 'hours')];
    if (!['', '12', '24'].includes(hours)) throw invalid({ hours: 'must be 12 or 24' });
    const clock = { timezone: timezone || null, hours: hours === '' ? null : hours === '12' ? 12 : 24 } as const;
    await accounts.setClock(requireSession(request).account_id, clock);
    return new Redirect('/account', { tone: 'success', message: 'Time settings saved.' });
  };

  const post = (path: string, handle: PageSpec['handle'], input?: PageSpec['input']): PageSpec => {
    return {
      method: 'POST',
      path,
      title,
      access: memberAccess,
      duringEnrollment: true,
      ...(input && { input }),
      handle,
    };
  };

  return [
    {
      path: '/account',
      title,
      access: memberAccess,
      duringEnrollment: true,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: (request) => (request.query['format'] === 'csv' ? exportSessions(request) : page(request)),
    },
    post('/account/clock', (request) =>
      renderOnError(
        () => setClock(request),
        (problem) => page(request, { ...problem, form: 'clock' }),
      ),
    ),
    post('/account/password', (request) =>
      renderOnError(
        () => changePassword(request),
        (problem) => page(request, { ...problem, form: 'password' }),
      ),
    ),
    {
      path: '/account/totp',
      title: 'Two-factor authentication',
      access: memberAccess,
      duringEnrollment: true,
      handle: async (request) =>
        (await own(request)).totp_pending === null ? new Redirect('/account') : enrolment(request),
    },
    post('/account/totp', (request) =>
      renderOnError(
        async () => {
          await totp.beginEnrolment(await confirmed(request, 'totp_password'));
          return new Redirect('/account/totp');
        },
        (problem) => page(request, { ...problem, form: 'totp' }),
      ),
    ),
    post('/account/totp/enable', (request) =>
      renderOnError(
        () => enable(request),
        async (problem) =>
          problem.code === 'conflict' ? page(request, { ...problem, form: 'totp' }) : enrolment(request, problem),
      ),
    ),
    post('/account/totp/disable', (request) =>
      renderOnError(
        () => disable(request),
        (problem) => page(request, { ...problem, form: 'totp' }),
      ),
    ),
    {
      path: '/account/passkeys',
      title: 'Add passkey',
      access: memberAccess,
      duringEnrollment: true,
      handle: async (request) => {
        const { session_id } = requireSession(request);
        const state = request.cookies[PASSKEY_COOKIE];
        const started = await passkeys.buildRegistrationOptions(await own(request), session_id, state);
        return started === null ? new Redirect('/account#passkeys') : new View('passkey', started);
      },
    },
    post('/account/passkeys', (request) =>
      renderOnError(
        () => beginPasskey(request),
        (problem) => page(request, { ...problem, form: 'passkeys' }),
      ),
    ),
    post('/account/passkeys/create', (request) =>
      renderOnError(
        () => createPasskey(request),
        (problem) => page(request, { ...problem, form: 'passkeys' }),
      ),
    ),
    post(
      '/account/passkeys/{id}/remove',
      (request) =>
        renderOnError(
          () => removePasskey(request),
          (problem) => page(request, { ...problem, form: 'passkeys' }),
        ),
      { params: joi.object({ id: joi.string().max(1500).required() }) },
    ),
    post(
      '/account/sessions/{id}/end',
      async (request) => {
        const { account_id, session_id } = requireSession(request);
        const id = request.params['id'] ?? '';
        if (!(await sessions.endOwn(account_id, id))) throw notFound('such session');
        const flash = { tone: 'success', message: 'Session ended.' } as const;
        if (id === session_id) return new Redirect('/login', flash).cookie({ name: SESSION_COOKIE, value: null });
        return new Redirect('/account', flash);
      },
      { params: joi.object({ id: joi.string().hex().length(64).required() }) },
    ),
  ];
}

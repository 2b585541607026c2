import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec, type FormRejection } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { decodeSavedForm } from '../../../lib/saved-form.js';
import type { AccessServices } from '../services.js';
import { DEVICE_COOKIE, DEVICE_COOKIE_LIFETIME_SECONDS } from '../login/devices.js';
import type { LoginStep, SecondFactors } from '../login/login.js';
import { PASSKEY_CHALLENGE_LIFETIME_MS } from '../passkeys/passkeys.js';
import type { SubmittedPasskey } from '../passkeys/submitted-passkey.js';
import { SESSION_LIFETIME_MS, SESSION_COOKIE } from '../sessions/sessions.js';
import { readBrowser, readField, toLocalPath, renderOnError, requireSession } from './form.js';
import { buildInvitationPages } from './invitations.js';
import { buildOidcPages } from './oidc.js';
import { resumeForm } from './resume.js';

/** Challenge of a passkey prompt, sealed. */
export const PASSKEY_COOKIE = 'svc_passkey';

export const readPasskey = (request: HttpRequest): SubmittedPasskey => ({
  credential: readField(request, 'credential'),
  state: request.cookies[PASSKEY_COOKIE],
});

export const createPasskeyCookie = (value: string | null) => ({
  name: PASSKEY_COOKIE,
  value,
  ...(value !== null && { maxAgeSeconds: PASSKEY_CHALLENGE_LIFETIME_MS / 1000 }),
});

/** A page, or a form submitted after the session had ended. */
interface LoginDestination {
  next: string;
  /** The signed form, or ''. */
  kept: string;
}

const nextQuery = joi.object({ next: joi.string().max(1000) });

const MISSING_FORM_MESSAGE = {
  tone: 'warning',
  message: 'Your form was not submitted because it belongs to another account.',
} as const;

/** Starts a prompt, whose challenge goes with the page's cookie. */
async function renderWithPrompt(
  { passkeys }: AccessServices,
  template: string,
  context: Record<string, unknown>,
): Promise<View> {
  const { options, state } = await passkeys.beginSignIn();
  return new View(template, { title: 'Sign in', options, ...context }).cookie(createPasskeyCookie(state));
}

const renderSecondStep = async (
  services: AccessServices,
  factors: SecondFactors | null,
  context: Record<string, unknown>,
): Promise<View> =>
  factors?.passkey
    ? renderWithPrompt(services, 'login-code', { factors, ...context })
    : new View('login-code', { title: 'Sign in', factors, ...context });

async function getRedirectTarget(
  services: AccessServices,
  step: LoginStep,
  { next, kept: savedForm }: LoginDestination,
): Promise<Redirect | View> {
  if (!step.done) {
    const { challenge, factors } = step;
    return renderSecondStep(services, factors, { challenge, next, kept: savedForm });
  }
  const form =
    savedForm === '' ? null : decodeSavedForm(savedForm, (text) => services.authenticator.getCsrfToken(text));
  const page = form === null ? null : await resumeForm(services, step.session, form);
  const flash = form !== null && page === null ? MISSING_FORM_MESSAGE : undefined;
  return (page === null ? Redirect.toUntrusted(next, flash) : new Redirect(page))
    .cookie({ name: SESSION_COOKIE, value: step.session, maxAgeSeconds: SESSION_LIFETIME_MS / 1000 })
    .cookie({ name: DEVICE_COOKIE, value: step.device, maxAgeSeconds: DEVICE_COOKIE_LIFETIME_SECONDS });
}

export function buildLoginPages(services: AccessServices): PageSpec[] {
  const { login, sessions, authenticator, policy, oidc } = services;

  /** What the form offers. */
  const methods = { local: policy.local, provider: oidc === null ? null : { label: oidc.label } };
  const form = (context: Record<string, unknown>): View => new View('login', { title: 'Sign in', methods, ...context });

  const firstStep = async (request: HttpRequest, way: LoginDestination) => {
    const username = readField(request, 'username');
    return renderOnError(
      async () =>
        getRedirectTarget(
          services,
          await login.submitPassword(username, readField(request, 'password'), readBrowser(request)),
          way,
        ),
      ({ message, code }) => form({ form: { username }, message, code, ...way }),
    );
  };

  const secondStep = async (request: HttpRequest, challenge: string, way: LoginDestination) => {
    const again = async ({ message }: FormRejection): Promise<View> =>
      renderSecondStep(services, await login.findFactors(challenge), { challenge, message, ...way });
    return renderOnError(async () => {
      try {
        const step =
          readField(request, 'credential') === ''
            ? await login.submitCode(challenge, readField(request, 'code'), readBrowser(request))
            : await login.submitPasskeyAsSecondFactor(challenge, readPasskey(request), readBrowser(request));
        return await getRedirectTarget(services, step, way);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.extra?.['restart'] !== true) throw error;
        return form({ form: {}, message: error.message, ...way }).withStatus(error.status);
      }
    }, again);
  };

  const passkeyStep = async (request: HttpRequest, way: LoginDestination) =>
    renderOnError(
      async () => {
        const step = await login.submitPasskey(readPasskey(request), readBrowser(request));
        return (await getRedirectTarget(services, step, way)).cookie(createPasskeyCookie(null));
      },
      ({ message }) => renderWithPrompt(services, 'login-passkey', { message, ...way }),
    );

  const readNext = (request: HttpRequest): string => toLocalPath((request.query as { next?: string }).next ?? '/');

  const readDestination = (request: HttpRequest): LoginDestination => ({
    next: toLocalPath(readField(request, 'next')),
    kept: readField(request, 'kept'),
  });

  return [
    {
      path: '/login',
      title: 'Sign in',
      access: 'public',
      limits: { bucket: 'login' },
      input: { query: nextQuery },
      handle: async (request) => {
        const next = readNext(request);
        const cookie = request.cookies[SESSION_COOKIE];
        if (cookie !== undefined && (await authenticator.authenticateSession(cookie)) !== null)
          return Redirect.toUntrusted(next);
        return form({ form: {}, next });
      },
    },
    {
      method: 'POST',
      path: '/login',
      title: 'Sign in',
      access: 'public',
      limits: {
        bucket: 'login',
        proves: (request, answer) => {
          if (!(answer instanceof Redirect) && !(answer instanceof View && answer.status === 200)) return null;
          return `account ${readField(request, 'username').toLowerCase() || readField(request, 'challenge')}`;
        },
      },
      again: ({ code, message }) => form({ form: {}, message, code, next: '/' }),
      handle: async (request) => {
        const way = readDestination(request);
        const challenge = readField(request, 'challenge');
        return challenge === '' ? firstStep(request, way) : secondStep(request, challenge, way);
      },
    },
    {
      path: '/login/passkey',
      title: 'Sign in',
      access: 'public',
      limits: { bucket: 'login' },
      input: { query: nextQuery },
      handle: (request) => renderWithPrompt(services, 'login-passkey', { next: readNext(request), start: true }),
    },
    {
      method: 'POST',
      path: '/login/passkey',
      title: 'Sign in',
      access: 'public',
      limits: { bucket: 'login' },
      again: ({ code, message }) => form({ form: {}, message, code, next: '/' }),
      handle: (request) => passkeyStep(request, readDestination(request)),
    },
    ...(oidc === null
      ? []
      : buildOidcPages(oidc.signIn, (step, next) => getRedirectTarget(services, step, { next, kept: '' }))),
    ...buildInvitationPages(services, (step) => getRedirectTarget(services, step, { next: '/', kept: '' })),
    {
      method: 'POST',
      path: '/logout',
      title: 'Sign out',
      access: { session: 'member' },
      duringEnrollment: true,
      handle: async (request) => {
        const { session_id } = requireSession(request);
        const providerUrl = (await oidc?.findLogoutUrl(session_id)) ?? null;
        await sessions.end(session_id);
        const cookie = { name: SESSION_COOKIE, value: null };
        if (providerUrl === null)
          return new Redirect('/login', { tone: 'success', message: 'Signed out.' }).cookie(cookie);
        // The policy of a form's target (CSP) does not allow a redirect to another host.
        return new View('signed-out', { title: 'Signed out', provider_url: providerUrl })
          .withoutLayout()
          .header('refresh', `0; url=${providerUrl}`)
          .cookie(cookie);
      },
    },
  ];
}

import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec, type FormRejection } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { decodeSavedForm } from '../../../lib/saved-form.js';
import type { AccessServices } from '../services.js';
import { DEVICE_COOKIE, DEVICE_COOKIE_LIFETIME_SECONDS } from '../login/devices.js';
import type { BrowserInfo, LoginStep } from '../login/login.js';
import { SESSION_LIFETIME_MS, SESSION_COOKIE } from '../sessions/sessions.js';
import { readField, toLocalPath, renderOnError, requireSession } from './form.js';
import { resumeForm } from './resume.js';

const toBrowser = (request: HttpRequest): BrowserInfo => ({
  address: request.address,
  request_id: request.id,
  userAgent: request.headers['user-agent'],
  device: request.cookies[DEVICE_COOKIE],
  session: request.cookies[SESSION_COOKIE],
});

/** A page, or a form submitted after the session had ended. */
interface LoginDestination {
  next: string;
  /** The signed form, or ''. */
  kept: string;
}

const MISSING_FORM_MESSAGE = {
  tone: 'warning',
  message: 'Your form was not submitted because it belongs to another account.',
} as const;

async function getRedirectTarget(
  services: AccessServices,
  step: LoginStep,
  { next, kept: savedForm }: LoginDestination,
): Promise<Redirect | View> {
  if (!step.done) return new View('login-code', { title: 'Sign in', challenge: step.challenge, next, kept: savedForm });
  const form =
    savedForm === '' ? null : decodeSavedForm(savedForm, (text) => services.authenticator.getCsrfToken(text));
  const page = form === null ? null : await resumeForm(services, step.session, form);
  const flash = form !== null && page === null ? MISSING_FORM_MESSAGE : undefined;
  return (page === null ? Redirect.toUntrusted(next, flash) : new Redirect(page))
    .cookie({ name: SESSION_COOKIE, value: step.session, maxAgeSeconds: SESSION_LIFETIME_MS / 1000 })
    .cookie({ name: DEVICE_COOKIE, value: step.device, maxAgeSeconds: DEVICE_COOKIE_LIFETIME_SECONDS });
}

export function buildLoginPages(services: AccessServices): PageSpec[] {
  const { login, sessions, authenticator } = services;

  const firstStep = async (request: HttpRequest, way: LoginDestination) => {
    const username = readField(request, 'username');
    const again = ({ message, code }: FormRejection): View =>
      new View('login', { title: 'Sign in', form: { username }, message, code, ...way });
    return renderOnError(
      async () =>
        getRedirectTarget(
          services,
          await login.submitPassword(username, readField(request, 'password'), toBrowser(request)),
          way,
        ),
      again,
    );
  };

  const secondStep = async (request: HttpRequest, challenge: string, way: LoginDestination) => {
    const again = ({ message }: FormRejection): View =>
      new View('login-code', { title: 'Sign in', challenge, message, ...way });
    return renderOnError(async () => {
      try {
        return await getRedirectTarget(
          services,
          await login.submitCode(challenge, readField(request, 'code'), toBrowser(request)),
          way,
        );
      } catch (error) {
        if (!(error instanceof ServiceError) || error.extra?.['restart'] !== true) throw error;
        return new View('login', { title: 'Sign in', form: {}, message: error.message, ...way }).withStatus(
          error.status,
        );
      }
    }, again);
  };

  return [
    {
      path: '/login',
      title: 'Sign in',
      access: 'public',
      limits: { bucket: 'login' },
      input: { query: joi.object({ next: joi.string().max(1000) }) },
      handle: async (request) => {
        const next = toLocalPath((request.query as { next?: string }).next ?? '/');
        const cookie = request.cookies[SESSION_COOKIE];
        if (cookie !== undefined && (await authenticator.authenticateSession(cookie)) !== null)
          return Redirect.toUntrusted(next);
        return new View('login', { form: {}, next });
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
      again: ({ code, message }) => new View('login', { form: {}, message, code, next: '/' }),
      handle: async (request) => {
        const way = { next: toLocalPath(readField(request, 'next')), kept: readField(request, 'kept') };
        const challenge = readField(request, 'challenge');
        return challenge === '' ? firstStep(request, way) : secondStep(request, challenge, way);
      },
    },
    {
      method: 'POST',
      path: '/logout',
      title: 'Sign out',
      access: { session: 'member' },
      handle: async (request) => {
        await sessions.end(requireSession(request).session_id);
        return new Redirect('/login', { tone: 'success', message: 'Signed out.' }).cookie({
          name: SESSION_COOKIE,
          value: null,
        });
      },
    },
  ];
}

import joi from 'joi';
import {
  Redirect,
  type View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { readBrowser, toLocalPath } from './form.js';
import { OIDC_FLOW_LIFETIME_MS, type OidcSignIn } from '../oidc/sign-in.js';
import type { LoginStep } from '../login/login.js';

const OIDC_COOKIE = 'svc_oidc';
const title = 'Sign in';

const parameter = joi.string().max(4000);

/** What providers answer; other parameters are ignored. */
const callbackSchema = joi.object({
  code: parameter,
  state: parameter,
  iss: parameter,
  error: parameter,
  error_description: parameter.allow(''),
  error_uri: parameter.allow(''),
});

/** @param invitation key of the invitation to accept */
export async function startProviderSignIn(signIn: OidcSignIn, next: string, invitation?: string): Promise<Redirect> {
  const { url, cookie } = await signIn.begin(next, invitation);
  return new Redirect(url).cookie({
    name: OIDC_COOKIE,
    value: cookie,
    maxAgeSeconds: OIDC_FLOW_LIFETIME_MS / 1000,
  });
}

/** @param finish answers with the session, or asks for the second factor */
export function buildOidcPages(
  signIn: OidcSignIn,
  finish: (step: LoginStep, next: string) => Promise<Redirect | View>,
): PageSpec[] {
  const start = (request: HttpRequest): Promise<PageResult> =>
    startProviderSignIn(signIn, toLocalPath((request.query as { next?: string }).next ?? '/'));

  const complete = async (request: HttpRequest): Promise<PageResult> => {
    const parameters = new URLSearchParams(request.query as Record<string, string>);
    const { step, next } = await signIn.complete(parameters, request.cookies[OIDC_COOKIE], readBrowser(request));
    const page = await finish(step, next);
    return page.cookie({ name: OIDC_COOKIE, value: null });
  };

  return [
    {
      path: '/auth/oidc/start',
      title,
      access: 'public',
      limits: { bucket: 'login' },
      input: { query: joi.object({ next: joi.string().max(1000) }) },
      handle: start,
    },
    {
      path: '/auth/oidc/callback',
      title,
      access: 'public',
      limits: { bucket: 'login' },
      input: { query: callbackSchema },
      handle: complete,
    },
  ];
}

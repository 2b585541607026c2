import joi from 'joi';
import {
  getFormFields,
  Redirect,
  text,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { hashConfirmationToken, parseEmail } from '../model/subscriber.js';
import { getPagePath, type StatusPageDoc } from '../model/status-page.js';
import type { StatusPageServices } from '../services.js';
import { renderLockedPage, type StatusPageFinder } from './password-page.js';

const slugSchema = joi.string().max(64).required();
const tokenSchema = joi.string().max(200).required();
const title = 'Updates by e-mail';
const SENT_MESSAGE = 'Open the link in the e-mail within 24 hours to confirm.';

interface SubscribeView {
  heading: string;
  text?: string;
  problem?: string;
  email?: string;
  button?: string;
}

export function buildSubscribePages(services: StatusPageServices, published: StatusPageFinder): PageSpec[] {
  const { subscribers, news, lock } = services;
  const show = (page: StatusPageDoc, shown: SubscribeView, status = 200): View =>
    new View('subscribe', {
      page: { title: page.title },
      base: getPagePath(page),
      brand: `${getPagePath(page)}/brand.css`,
      asks_email: shown.email !== undefined,
      ...shown,
    })
      .withStatus(status)
      .withoutLayout()
      .header('cache-control', 'private, no-store')
      .header('x-robots-tag', 'noindex')
      .header('referrer-policy', 'no-referrer');
  const open = async (request: HttpRequest): Promise<StatusPageDoc> => {
    const page = await published(request);
    if (!services.pages.acceptsSubscribers(page)) throw notFound('such page');
    return page;
  };
  const at = (
    method: 'GET' | 'POST',
    path: string,
    handle: (request: HttpRequest) => Promise<PageResult>,
    more: Partial<PageSpec> = {},
  ): PageSpec => ({
    method,
    path: `/status-page/{slug}${path}`,
    title,
    access: 'public',
    onOwnHosts: true,
    input: { params: joi.object({ slug: slugSchema, ...(path.includes('{token}') && { token: tokenSchema }) }) },
    handle,
    ...more,
  });
  const subscribeForm = { heading: 'Get updates by e-mail', button: 'Subscribe' };

  const subscribe = async (request: HttpRequest): Promise<PageResult> => {
    const page = await open(request);
    if (!lock.isOpen(page, request)) return renderLockedPage('error', request.path);
    const given = getFormFields(request)['email'];
    const email = parseEmail(given);
    const form = { ...subscribeForm, email: typeof given === 'string' ? given.slice(0, 254) : '' };
    if (email === null)
      return show(page, { ...form, problem: 'Enter an e-mail address, such as ada@example.com.' }, 422);
    try {
      await services.countAttempt(`status-subscribe:${getClientNetwork(request.address)}`);
    } catch (error) {
      return renderRejection(error, (problem) => show(page, { ...form, problem }, 429));
    }
    try {
      // The same response, so it does not reveal subscribers.
      if (await canSendConfirmation(services, email)) {
        const { subscriber, token } = await subscribers.addPending(page, email);
        await news.sendConfirmation(page, subscriber, token);
      }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
      return show(page, { heading: subscribeForm.heading, problem: error.message }, 409);
    }
    return show(page, { heading: 'Check your inbox', text: SENT_MESSAGE });
  };

  const confirmation = async (request: HttpRequest): Promise<PageResult> => {
    const page = await open(request);
    const found = await subscribers.findPending(page, request.params['token'] ?? '');
    return found === null
      ? show(page, EXPIRED_LINK_VIEW, 410)
      : show(page, {
          heading: 'Confirm your address',
          text: `Get updates about ${page.title} by e-mail.`,
          button: 'Confirm',
        });
  };
  const confirm = async (request: HttpRequest): Promise<PageResult> => {
    const page = await open(request);
    const isConfirmed = await subscribers.confirm(page, request.params['token'] ?? '');
    return isConfirmed
      ? show(page, { heading: 'You are subscribed', text: 'Every e-mail has an unsubscribe link.' })
      : show(page, EXPIRED_LINK_VIEW, 410);
  };
  /** Links in mails stay valid after the slug changes or subscriptions are disabled. */
  const leaving = async ({ params }: HttpRequest): Promise<{ id: string; page: StatusPageDoc }> => {
    const found = await subscribers.findByUnsubscribeToken(params['token'] ?? '');
    const { slug = '' } = params;
    const own = found?.subscriber?.page_id;
    const page = own === undefined ? await services.pages.findBySlug(slug) : await services.pages.findById(own);
    if (found === null || page === null) throw notFound('such page');
    return { id: found.id, page };
  };

  return [
    at('GET', '/subscribe', async (request) => {
      const page = await open(request);
      return lock.isOpen(page, request) ? show(page, { ...subscribeForm, email: '' }) : new Redirect(getPagePath(page));
    }),
    at('POST', '/subscribe', subscribe),
    at('GET', '/subscribe/confirm/{token}', confirmation),
    at('POST', '/subscribe/confirm/{token}', confirm),
    at('GET', '/unsubscribe/{token}', async (request) => {
      const { page } = await leaving(request);
      const words = `Get no more updates of ${page.title} by e-mail.`;
      return show(page, { heading: 'Unsubscribe', text: words, button: 'Unsubscribe' });
    }),
    at('POST', '/unsubscribe/{token}', async (request) => {
      const { id, page } = await leaving(request);
      await subscribers.unsubscribe(id);
      return show(page, { heading: 'You are unsubscribed', text: 'Your address is deleted.' });
    }),
  ];
}

const EXPIRED_LINK_VIEW: SubscribeView = {
  heading: 'This link has expired',
  text: 'Links work once, for 24 hours. Subscribe again for a new one.',
};

/** Mail clients unsubscribe by a POST without form token (RFC 8058); older ones open the URL. */
export const buildOneClickRoute = ({ subscribers }: StatusPageServices): RouteSpec => ({
  method: ['GET', 'POST'],
  path: '/status-page/{slug}/unsubscribe/{token}/one-click',
  summary: 'Unsubscribe from a status page, for mail programs',
  access: 'public',
  hidden: true,
  onOwnHosts: true,
  input: { params: joi.object({ slug: slugSchema, token: tokenSchema }), body: joi.any(), optionalBody: true },
  limits: { payload: 'raw', bytes: 4_096 },
  handle: async ({ method, path, params }) => {
    const found = await subscribers.findByUnsubscribeToken(params['token'] ?? '');
    if (found === null) throw notFound('such page');
    if (method !== 'POST') return new Redirect(path.replace(/\/one-click$/, ''));
    await subscribers.unsubscribe(found.id);
    return text('You are unsubscribed.\n');
  },
});

/** Returns false after too many confirmation mails to this address. */
async function canSendConfirmation({ countAttempt }: StatusPageServices, email: string): Promise<boolean> {
  try {
    await countAttempt(`status-subscribe-mail:${hashConfirmationToken(email.toLowerCase())}`);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'rate_limited') return false;
    throw error;
  }
}

function renderRejection(error: unknown, show: (problem: string) => View): View {
  if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
  const view = show('Too many attempts. Try again later.');
  for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
  return view;
}

/** Pages of administrators who invite, and the page behind an invitation's link. */
import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageResult, type PageSpec } from '../../../kernel/contract/index.js';
import type { FormRejection } from '../../../kernel/contract/index.js';
import {
  getFaultSentence,
  INVITED_ROLES,
  INVITATION_LIFETIME_MS,
  type Invitation,
  type InvitationFault,
} from '../invitations/invitation.js';
import { InvitationEnded, type PendingInvitation, type SentInvitation } from '../invitations/invitations.js';
import type { LoginStep } from '../login/login.js';
import type { AccessServices } from '../services.js';
import { DAY_MS } from '../../../lib/time.js';
import { checkUsername } from '../model/account.js';
import { readBrowser, readField, renderOnError, requireSession } from './form.js';
import { startProviderSignIn } from './oidc.js';

const adminAccess = { session: 'admin' } as const;
const title = 'Members';
const idParams = joi.object({ id: joi.string().guid().required() });
const PUBLIC_TITLE = 'Accept invitation';
/** Checked by its hash alone: whatever it is, the answer is the same sentence. */
const tokenParams = joi.object({ token: joi.string().max(500).required() });

const BACK_TO_MEMBERS = { label: title, href: '/users' };

/** A long address breaks before its domain. */
export const toInvitationRow = ({ invitation, ...state }: PendingInvitation): object => {
  const at = invitation.email.lastIndexOf('@');
  return { ...invitation, ...state, mailbox: invitation.email.slice(0, at), domain: invitation.email.slice(at + 1) };
};

const renderSentInvitation = ({ invitation, link, mailed }: SentInvitation): View =>
  new View('invitation-sent', {
    title: mailed ? 'Invitation sent' : 'Invitation created',
    invitation,
    link,
    mailed,
    days: INVITATION_LIFETIME_MS / DAY_MS,
  }).asOneTimeView(BACK_TO_MEMBERS);

/** @param list renders the members with the form again */
export function buildInvitationActions(
  { invitations }: Pick<AccessServices, 'invitations'>,
  list: (problem?: FormRejection & { invited?: object }) => Promise<View>,
): PageSpec[] {
  const base = { title, access: adminAccess } as const;
  return [
    { ...base, path: '/users/invitations', handle: () => list() },
    {
      ...base,
      method: 'POST',
      path: '/users/invitations',
      creates: true,
      handle: (request) => {
        const invited = {
          email: readField(request, 'email'),
          role: readField(request, 'role'),
          full_name: readField(request, 'full_name'),
        };
        return renderOnError(
          async () => renderSentInvitation(await invitations.invite(requireSession(request), invited)),
          (problem) => list({ ...problem, invited }),
        );
      },
    },
    {
      ...base,
      method: 'POST',
      path: '/users/invitations/{id}/resend',
      creates: true,
      input: { params: idParams },
      handle: async (request) =>
        renderSentInvitation(await invitations.resend(requireSession(request), request.params['id'] ?? '')),
    },
    {
      ...base,
      method: 'POST',
      path: '/users/invitations/{id}/revoke',
      input: { params: idParams },
      handle: async (request) => {
        const { email } = await invitations.revoke(requireSession(request), request.params['id'] ?? '');
        return new Redirect('/users', { tone: 'success', message: `Revoked the invitation of ${email}.` });
      },
    },
  ];
}

/** The link's address holds the token, so that no other page may learn it from the Referer. */
const hideAddress = (view: View): View => view.withPublicLayout().header('referrer-policy', 'no-referrer');

const renderFault = (fault: InvitationFault): View =>
  hideAddress(new View('invitation-ended', { title: 'Invitation', message: getFaultSentence(fault) }).withStatus(410));

/** The part of the address before the @, where it can be a username. */
function suggestUsername({ email }: Invitation): string {
  const name = email.slice(0, email.lastIndexOf('@'));
  return 'problem' in checkUsername(name) ? '' : name;
}

/** @param finish opens the session in the browser */
export function buildInvitationPages(
  services: AccessServices,
  finish: (step: LoginStep) => Promise<Redirect | View>,
): PageSpec[] {
  const { invitations, policy, oidc, login } = services;

  const page = (request: HttpRequest, invitation: Invitation, problem: Partial<FormRejection> = {}): View => {
    const { email, role, invited_by, expires_at, full_name } = invitation;
    const again = request.body !== null;
    const typed = (name: string, first: string): string => (again ? readField(request, name) : first);
    const methods = policy.listSignInMethods(role);
    const path = `/invitations/${encodeURIComponent(request.params['token'] ?? '')}`;
    return hideAddress(
      new View('invitation', {
        title: PUBLIC_TITLE,
        invitation: { email, invited_by, expires_at, role: INVITED_ROLES[role] },
        methods,
        provider: methods.provider ? { label: oidc?.label, href: `${path}/sign-in` } : null,
        action: path,
        form: {
          username: typed('username', suggestUsername(invitation)),
          full_name: typed('full_name', full_name ?? ''),
        },
        ...problem,
      }),
    );
  };

  const withInvitation = async (
    request: HttpRequest,
    run: (invitation: Invitation, secret: string) => Promise<PageResult> | PageResult,
  ): Promise<PageResult> => {
    const secret = request.params['token'] ?? '';
    try {
      const found = await invitations.find(secret);
      return 'fault' in found ? renderFault(found.fault) : await run(found.invitation, secret);
    } catch (error) {
      if (error instanceof InvitationEnded) return renderFault(error.fault);
      throw error;
    }
  };

  const accept = async (request: HttpRequest, secret: string): Promise<Redirect | View> => {
    const { account } = await invitations.accept(secret, {
      username: readField(request, 'username'),
      password: readField(request, 'password'),
      full_name: readField(request, 'full_name'),
    });
    if (account.role === 'installer')
      return hideAddress(new View('invitation-ended', { title: PUBLIC_TITLE, account: account.username }));
    return finish(await login.continueExternal(account, readBrowser(request)));
  };

  const base = {
    title: PUBLIC_TITLE,
    access: 'public',
    limits: { bucket: 'login' },
    input: { params: tokenParams },
  } as const;
  return [
    {
      ...base,
      path: '/invitations/{token}',
      handle: (request) => withInvitation(request, (invitation) => page(request, invitation)),
    },
    {
      ...base,
      method: 'POST',
      path: '/invitations/{token}',
      handle: (request) =>
        withInvitation(request, (invitation, secret) =>
          renderOnError(
            () => accept(request, secret),
            (problem) => page(request, invitation, problem),
          ),
        ),
    },
    ...(oidc === null
      ? []
      : [
          {
            ...base,
            path: '/invitations/{token}/sign-in',
            handle: (request: HttpRequest) =>
              withInvitation(request, (_, secret) => startProviderSignIn(oidc.signIn, '/', invitations.getKey(secret))),
          },
        ]),
  ];
}

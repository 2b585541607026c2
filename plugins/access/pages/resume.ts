import joi from 'joi';
import { View, type PageSpec } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { isFormForAccount, listMultiWordFields, type SavedForm } from '../../../lib/saved-form.js';
import { computeSha256 } from '../model/token.js';
import type { AccessServices } from '../services.js';
import { requireSession } from './form.js';

/**
 * @param session the new session's cookie
 * @returns the page that submits the form; null when another account wrote it
 */
export async function resumeForm(
  { forms, authenticator }: Pick<AccessServices, 'forms' | 'authenticator'>,
  session: string,
  savedForm: SavedForm,
): Promise<string | null> {
  const account = (await authenticator.authenticateSession(session))?.account_id ?? '';
  if (!isFormForAccount(savedForm, account, (text) => authenticator.getCsrfToken(text))) return null;
  return `/resume/${await forms.saveText({ session_id: computeSha256(session) }, JSON.stringify(savedForm))}`;
}

export const buildResumePages = ({ forms }: Pick<AccessServices, 'forms'>): PageSpec[] => [
  {
    path: '/resume/{id}',
    title: 'Signed in',
    access: { session: 'member' },
    input: { params: joi.object({ id: joi.string().hex().length(32).required() }) },
    handle: async (request) => {
      const found = await forms.read(requireSession(request), request.params['id'] ?? '');
      if (found === null) throw notFound('kept form');
      const { path, fields } = JSON.parse(found.text) as SavedForm;
      return new View('resume', {
        path,
        first: found.first,
        fields: fields.map(([name, value]) => ({ name, value })),
        shown: listMultiWordFields(fields),
      });
    },
  },
];

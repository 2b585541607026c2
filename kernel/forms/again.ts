/** Shows a refused form again, with the faults and the typed values: the same on every page. */
import { View, type HttpRequest, type PageResult, type PageSpec } from '../../ports/http.js';
import { ServiceError } from '../errors.js';

/** The part of a refusal that a page shows. */
export interface Problem {
  message: string;
  code: string;
  /** Field → text, for the controls. */
  errors: Record<string, string>;
}

/** Refusals that a person can correct on the page; every other one leads to the error page. */
const MENDABLE: readonly number[] = [409, 422];

/**
 * `run`, or the page again with the refusal's status and headers (`Retry-After`).
 * @param mendable statuses that the page itself can show
 */
export async function orAgain(
  run: () => Promise<PageResult>,
  again: (problem: Problem) => Promise<PageResult> | PageResult,
  mendable: readonly number[] = MENDABLE,
): Promise<PageResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || !mendable.includes(error.status)) throw error;
    const { message, code, fields: errors = {} } = error;
    const page = await again({ message, code, errors });
    if (!(page instanceof View)) return page;
    const view = page.withRefusal(error.status, { code, message, fields: errors });
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
}

/**
 * A page that takes a posted form: `run`, or the page that holds the form, with what was refused.
 * @param page the page's path, title, access and input
 * @param again the page that holds the form
 * @param mendable statuses that the page itself can show
 */
export const formPage = (
  page: Omit<PageSpec, 'method' | 'handle'>,
  run: (request: HttpRequest) => Promise<PageResult>,
  again: (request: HttpRequest, problem: Problem) => Promise<PageResult> | PageResult,
  mendable?: readonly number[],
): PageSpec => ({
  ...page,
  method: 'POST',
  handle: (request) =>
    orAgain(
      () => run(request),
      (problem) => again(request, problem),
      mendable,
    ),
});

/** What a button of a page does. @param id of the thing that the page shows */
export type PageAction = (request: HttpRequest, id: string) => Promise<PageResult>;

/**
 * The buttons of a page of one thing: each is a form that is posted to `<path of the page>/<name>`, and a refusal is
 * shown on the page itself.
 * @param page the page's path (it holds `{id}`), title, access and input
 * @param again the page, with what was refused
 * @param mendable statuses that the page itself can show
 * @returns makes one button; `input` where the name has parameters of its own
 */
export const pageActions =
  (
    page: Pick<PageSpec, 'path' | 'title' | 'access' | 'input'>,
    again: (request: HttpRequest, problem: Problem) => Promise<PageResult>,
    mendable?: readonly number[],
  ) =>
  (name: string, run: PageAction, input = page.input): PageSpec =>
    formPage(
      { ...page, path: `${page.path}/${name}`, ...(input && { input }) },
      (request) => run(request, request.params['id'] ?? ''),
      again,
      mendable,
    );

/** A refusal in one text, for a page that has no control beside which a field's fault could stand. */
export const problemText = ({ message, errors }: Problem): string => [message, ...Object.values(errors)].join(' ');

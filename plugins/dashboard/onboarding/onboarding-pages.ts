import joi from 'joi';
import {
  Redirect,
  Reply,
  View,
  type Clock,
  type HttpRequest,
  type PageSpec,
  type Principal,
  type SessionPrincipal,
} from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { OnboardingStep, StepContext } from '../../../ports/domain/dashboard.js';
import type { TokenIssuer } from '../../../ports/domain/tokens.js';
import type { CheckedStep, OnboardingChecklist } from './onboarding-checklist.js';
import type { SampleDataService } from './sample-data.js';

export interface OnboardingPageServices {
  checklist: OnboardingChecklist;
  samples: SampleDataService;
  clock: Pick<Clock, 'iso'>;
  baseUrl: () => string;
  project: (wanted: string | null) => Promise<string | null>;
  /**
   * Undefined when the plugin that issues tokens is disabled; commands then contain the variable
   * name instead.
   */
  tokens: () => TokenIssuer | undefined;
  audit: () => AuditLog | undefined;
}

const EXAMPLE_PROJECT = 'shop';
const TOKEN_VARIABLE = '$SVC_TOKEN';
/** Prefix of the tokens' names, which sorts them together. */
const TOKEN_PREFIX = 'Get started: ';
const LIVE_TOPICS = 'bugs monitors webhooks releases';
const member = { session: 'member' } as const;
const admin = { session: 'admin' } as const;
const resultQuery = joi.object({ since: joi.string().isoDate().required(), project: joi.string().max(64) });
const params = joi.object({
  id: joi
    .string()
    .pattern(/^[a-z-]{1,40}$/)
    .required(),
});

export const projectInput = {
  projectQuery: 'project',
  input: { query: joi.object({ project: joi.array().items(joi.string().max(64).allow('')).max(10).single() }) },
} as const;

interface OnboardingView {
  steps: object[];
  done: number;
  all: number;
  empty: boolean;
}

const getSession = ({ principal }: HttpRequest): SessionPrincipal => {
  if (principal.kind === 'session') return principal;
  throw new ServiceError('unauthorized', 'Sign in first.');
};

/** Returns the project of the request; a form sends the one that it showed. */
function getRequestedProject({ query, body }: HttpRequest): string | null {
  const typed = ((body ?? {}) as Record<string, unknown>)['project'];
  const [named] = [typed ?? query['project'] ?? []].flat();
  return typeof named === 'string' && named !== '' ? named : null;
}

export class OnboardingPages {
  constructor(private readonly parts: OnboardingPageServices) {}

  /** Returns null when dismissed or completed. */
  async buildDashboardSteps(request: HttpRequest): Promise<OnboardingView | null> {
    const session = getSession(request);
    if (await this.parts.checklist.isDismissed(session.account_id)) return null;
    const steps = await this.parts.checklist.listSteps(session.account_id);
    return steps.every(({ done, skipped }) => done || skipped)
      ? null
      : this.#buildStepsView(steps, session, getRequestedProject(request));
  }

  get specs(): PageSpec[] {
    const { checklist, samples } = this.parts;
    const title = 'Get started';
    return [
      {
        path: '/first-steps',
        title,
        access: member,
        ...projectInput,
        handle: async (request) => {
          const session = getSession(request);
          const steps = await checklist.listSteps(session.account_id);
          const [shown, dismissed, has_samples] = await Promise.all([
            this.#buildStepsView(steps, session, getRequestedProject(request)),
            checklist.isDismissed(session.account_id),
            this.parts.samples.isAdded(),
          ]);
          const is_admin = session.role === 'admin';
          return new View('first-steps', {
            title,
            ...shown,
            dismissed,
            has_samples,
            is_admin,
            live_topics: LIVE_TOPICS,
          });
        },
      },
      {
        method: 'POST',
        path: '/first-steps/dismiss',
        title,
        access: member,
        handle: async (request) => {
          await checklist.dismiss(getSession(request).account_id);
          const message = 'Removed from your dashboard. Find it under Get started.';
          return new Redirect('/', { tone: 'success', message, action: { label: 'Undo', post: '/first-steps/show' } });
        },
      },
      {
        method: 'POST',
        path: '/first-steps/show',
        title,
        access: member,
        handle: async (request) => {
          await checklist.showAgain(getSession(request).account_id);
          return new Redirect('/', { tone: 'success', message: 'Get started is on your dashboard again.' });
        },
      },
      {
        method: 'POST',
        path: '/first-steps/{id}/token',
        title,
        access: admin,
        ...projectInput,
        input: { params, ...projectInput.input },
        handle: (request) => this.#createToken(request),
      },
      {
        path: '/first-steps/{id}/result',
        title,
        access: member,
        input: { params, query: resultQuery },
        handle: async ({ params: { id = '' }, query }) => {
          const { since, project = null } = query as { since: string; project?: string };
          const found = await checklist.find(id)?.findResult?.(since, project);
          return new Reply(200, { found: found ?? null });
        },
      },
      this.#buildSkipPage('skip', true),
      this.#buildSkipPage('unskip', false),
      this.#buildSamplePage('/first-steps/sample', 'Sample data added.', (principal) => samples.add(principal)),
      this.#buildSamplePage('/first-steps/sample/remove', 'Sample data removed.', (principal) =>
        samples.remove(principal),
      ),
    ];
  }

  #buildSkipPage(name: string, isSkipped: boolean): PageSpec {
    return {
      method: 'POST',
      path: `/first-steps/{id}/${name}`,
      title: 'Get started',
      access: member,
      input: { params },
      handle: async (request) => {
        const id = request.params['id'] ?? '';
        if (this.parts.checklist.find(id) === null) throw new ServiceError('not_found', 'Step not found.');
        await this.parts.checklist.setSkipped(getSession(request).account_id, id, isSkipped);
        return new Redirect(`/first-steps#step-${id}`);
      },
    };
  }

  #buildSamplePage(path: string, message: string, run: (principal: Principal) => Promise<void>): PageSpec {
    return {
      method: 'POST',
      path,
      title: 'Get started',
      access: admin,
      handle: async ({ principal }) => {
        await run(principal);
        return new Redirect('/first-steps', { tone: 'success', message });
      },
    };
  }

  async #createToken(request: HttpRequest): Promise<View> {
    const step = this.parts.checklist.find(request.params['id'] ?? '');
    const tokens = this.parts.tokens();
    if (step === null || step.token === null || step.command === null || tokens === undefined) {
      throw new ServiceError('not_found', 'Step not found, or its command needs no token.');
    }
    const { username } = getSession(request);
    const wanted = getRequestedProject(request);
    const given = await this.#buildCommandInput(wanted);
    const { scopes } = step.token;
    const name = `${TOKEN_PREFIX}${step.token.name}`;
    const project = given.bound;
    if (wanted !== null && project !== wanted) throw conflict('Project is archived or deleted. Reload the page.');
    const made = await tokens.issue({ kind: 'master', name, scopes, project, created_by: username });
    await this.parts
      .audit()
      ?.record(request.principal, 'token.created', made.id, { name, scopes: scopes.join(' '), project });
    return new View('first-step-token', {
      title: step.title,
      text: step.text,
      command: step.command({ ...given, token: made.token }),
      secret: made.token,
      scopes,
      project,
      waits: step.findResult !== undefined,
      result_path: `/first-steps/${step.id}/result?${new URLSearchParams({ since: this.parts.clock.iso(), ...(project !== null && { project }) }).toString()}`,
    }).asOneTimeView({ label: 'Get started', href: '/first-steps' });
  }

  async #buildStepsView(
    steps: readonly CheckedStep[],
    { role }: SessionPrincipal,
    wanted: string | null,
  ): Promise<OnboardingView> {
    const { checklist } = this.parts;
    const given = await this.#buildCommandInput(wanted);
    const mayMake = role === 'admin' && this.parts.tokens() !== undefined;
    const next = steps.find(({ done, skipped }) => !done && !skipped)?.step.id;
    return {
      steps: await Promise.all(
        steps.map(async ({ step, done, skipped }) => {
          const row = toStepView(
            step,
            done,
            { ...given, token: TOKEN_VARIABLE },
            { mayMake, next, project: given.bound },
          );
          return done ? row : { ...row, skipped, ...(await checklist.findMissingSetup(step)) };
        }),
      ),
      done: steps.filter(({ done, skipped }) => done || skipped).length,
      // Nothing has been set up: the steps are what Home is for.
      empty: steps.every(({ done, skipped }) => !done && !skipped),
      all: steps.length,
    };
  }

  async #buildCommandInput(wanted: string | null): Promise<Omit<StepContext, 'token'> & { bound: string | null }> {
    const bound = await this.parts.project(wanted);
    return { baseUrl: this.parts.baseUrl().replace(/\/$/, ''), project: bound ?? EXAMPLE_PROJECT, bound };
  }
}

const toStepView = (
  step: OnboardingStep,
  done: boolean,
  given: StepContext,
  { mayMake, next, project }: { mayMake: boolean; next: string | undefined; project: string | null },
): object => ({
  id: step.id,
  title: step.title,
  text: step.text,
  page: step.page,
  done,
  // Completed and later steps are collapsed.
  open: step.id === next,
  command: step.command?.(given) ?? null,
  waits: step.findResult !== undefined,
  makes_token: mayMake && step.token !== null && step.command !== null,
  project,
});

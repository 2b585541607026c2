/** Every list of the settings and the sidebar is exported as CSV (contract 80). */
import { expect } from 'chai';
import { formatJobLabel } from '../../plugins/health/job-labels.js';
import { PlantedService } from './planted.js';

const LISTS: readonly [path: string, header: string][] = [
  ['/account', 'user_agent,address,current,created_at,last_seen_at,expires_at'],
  ['/agent-rules', 'project,severity,tag,agent,enabled,created_by,created_at'],
  ['/agents', 'ref,title,project,severity,agent,claimed_at,lease_ends_at,events,created_at'],
  ['/agents/queue', 'ref,title,project,severity,agent,claimed_at,lease_ends_at,events,created_at'],
  ['/audit', 'at,actor,action,target,event,details,before,after'],
  ['/license-approvals', 'kind,project,key,machine,requested_at'],
  ['/maintenance', 'kind,sources,open,from,until,schedule,timezone,minutes,reason,created_by'],
  ['/migrations', 'id,applied_at,version'],
  ['/notifications', 'name,kind,target,enabled,disabled_reason,failing_since,last_sent_at'],
  ['/projects', 'slug,name,number,archived,repo_url,created_at'],
  ['/release-health', 'version,started,crashed,crash_free_sessions,people,crash_free_people,adoption'],
  ['/rollouts', 'product,version,channel,platform,rollout_percent,halted_at,published_at'],
  ['/status-pages', 'slug,title,published,project,components,url'],
  ['/system/jobs', 'name,state,every_ms,cron,last_run_at,last_finished_at,next_run_at,fail_count,fail_reason'],
  ['/system/plugins', 'id,title,status,version,critical,reason'],
  ['/tokens', 'name,prefix,state,scopes,project,source,agent,created_by,created_at,last_used_at,expires_at'],
  ['/users', 'username,full_name,email,role,disabled,totp,passkeys,issuer,created_at,last_login_at'],
  ['/webhooks', 'name,url,events,project_slug,enabled,failure_count,disabled_at,created_at'],
  ['/webhooks/events', 'timestamp,event,project_slug,subject,data'],
];

describe('web: lists as CSV', () => {
  let planted: PlantedService;

  before(async () => {
    planted = await PlantedService.started();
  });
  after(() => planted?.dispose());

  for (const [path, header] of LISTS) {
    it(`${path} links its CSV, whose first line names the columns`, async () => {
      const page = await planted.admin.get(path);
      expect(page.text.replaceAll('&#x3D;', '=')).to.match(new RegExp(`href="${path}\\?[^"]*format=csv"`));
      const csv = await planted.admin.get(`${path}?format=csv`);
      expect(csv.status).to.equal(200);
      expect(csv.text.split('\r\n')[0]).to.equal(header);
      // No cell begins with a sign that a spreadsheet would run.
      expect(csv.text).to.not.match(/(?:^|,|\r\n)"?[=@]/);
    });
  }

  it('/system/jobs names each job of AOS in words', async () => {
    const csv = await planted.admin.get('/system/jobs?format=csv');
    const names = csv.text.split('\r\n').flatMap((line) => /^[a-z]+\.[a-z_]+/.exec(line) ?? []);
    expect(names).to.include('machines.days').and.have.length.above(25);
    const own = names.map((name) => `other.${name.slice(name.indexOf('.') + 1)}`);
    expect(names.filter((name, i) => formatJobLabel(name) === formatJobLabel(own[i] ?? ''))).to.deep.equal([]);
  });

  it('/webhooks/events exports the events of its filter alone', async () => {
    const { text } = await planted.admin.get('/webhooks/events?event=bug.created&format=csv');
    const events = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[1]);
    expect(new Set(events)).to.deep.equal(new Set(['bug.created']));
    const other = await planted.admin.get('/webhooks/events?event=monitor.alarm_closed&format=csv');
    expect(other.text.split('\r\n')).to.have.length(2);
  });
});

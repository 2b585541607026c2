/** `--action configure` (contract 90): the setup of an installation, afterwards. What is set already stays. */
import { Failure } from '../exit.js';
import { Http } from '../net/http.js';
import { settle, showPost } from '../settings/settle.js';
import { loginOnce } from '../setup/account.js';
import { Installation, type Agent } from '../update/installation.js';
import { reportRecovery } from './recover.js';

export async function configure(agent: Agent): Promise<void> {
  const { options, signal } = agent;
  const http = new Http(agent.env, agent.hooks, options.allowHttp, signal);
  try {
    const installation = await Installation.open(agent);
    try {
      reportRecovery(agent.output, installation.recovered);
      const { manifest, layout } = installation;
      if (manifest === null)
        throw new Failure('usage', `nothing is installed in ${layout.root}: --action install, or another --dir`);
      showPost(agent, await settle(installation, manifest.product, loginOnce(options, http, signal)));
    } finally {
      await installation.close();
    }
  } finally {
    await http.close();
  }
}

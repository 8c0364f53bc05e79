// Written by `helix connect opencode`, removed by `helix disconnect opencode`: hands Helix what happens in a session and
// puts what it remembers before the model. Whatever goes wrong, opencode goes on without it.
import { spawn } from "node:child_process"

const command = "{hook_argv}"
const limit = "{milliseconds}"
const most = 100_000

const ask = (payload) =>
  new Promise((resolve) => {
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => child.kill("SIGKILL"), limit + 200)
      let said = ""
      child.stdout.on("data", (piece) => (said += piece))
      child.stdin.on("error", () => undefined)
      child.on("error", () => resolve(""))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(said).context ?? "")
        } catch {
          resolve("")
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })

export const Helix = async ({ client, directory }) => {
  const notes = new Map() // session -> promises of texts that stand in its system prompt
  const waiting = new Map() // call -> promise of the text that was to be shown before it
  const parents = new Map() // session -> promise of the session for which its agent works, if any
  const parentOf = (session) => {
    if (!parents.has(session)) {
      const asked = Promise.resolve().then(() => client.session.get({ path: { id: session } }))
      const late = new Promise((resolve) => setTimeout(resolve, limit, {}))
      parents.set(session, Promise.race([asked, late]).then(({ data }) => data?.parentID, () => undefined))
    }
    return parents.get(session)
  }
  const rootOf = async (session) => {
    const above = await parentOf(session)
    return above ? rootOf(above) : session
  }
  const tell = async (name, session, more = {}) => {
    const root = await rootOf(session) // what sub-agents do is done in the session of the person, which may be private
    const agent = root === session ? {} : { agent_id: session }
    return ask({ hook_event_name: name, session_id: root, cwd: directory, ...agent, ...more })
  }
  const keep = (session, text) => notes.set(session, [...(notes.get(session) ?? []), text].slice(-4))

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session) return
      if (event.type === "session.created") parents.set(session, Promise.resolve(event.properties.info?.parentID))
      if (await parentOf(session)) return // it begins and ends within the person's
      if (event.type === "session.created") keep(session, tell(event.type, session, { source: "startup" }))
      if (event.type === "session.idle" || event.type === "session.compacted") await tell(event.type, session)
      if (event.type === "session.deleted") {
        notes.delete(session)
        await tell(event.type, session)
        parents.delete(session)
      }
    },
    "command.execute.before": async (input, output) => {
      // What a command says is its file's word, which may be a repository's: its history is to say what was typed.
      const typed = `/${input.command} ${input.arguments}`.trim().slice(0, most)
      for (const part of output.parts) if (part.type === "text") part.metadata = { ...part.metadata, helix: typed }
    },
    "chat.message": async (input, output) => {
      if (await parentOf(input.sessionID)) return
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const typed = texts.map((part) => part.metadata?.helix ?? part.text)
      keep(input.sessionID, tell("chat.message", input.sessionID, { prompt: typed.join("\n").slice(0, most) }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const own = notes.get(await rootOf(input.sessionID)) ?? []
      for (const text of await Promise.all(own)) if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
      waiting.set(input.callID, await tell("tool.execute.before", input.sessionID, call))
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args }
      const end = { exit: output.metadata?.exit, output: String(output.output ?? "").slice(-most) }
      const texts = [waiting.get(input.callID), await tell("tool.execute.after", input.sessionID, { ...call, ...end })]
      waiting.delete(input.callID)
      for (const text of texts) if (text) output.output = `${output.output}\n\n${text}`
    },
  }
}

"""Concepts: reads a text as the concepts that instructions to an agent are made of, in many languages.

A word that ends in `*` stands for every word that begins so. The first lines of a concept are English, the rest is
what other languages say: the large ones, and some small ones that are used to get past English filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from helix.model.letters import normalised
from helix.text.regex import regex

CONCEPTS: Mapping[str, str] = {
    # What an instruction does to the ones that an agent was given before.
    "override": """
        ignore ignoring disregard disregarding forget override overriding overrule neglect discard abandon supersede
        ignora ignorar ignorad ignorer ignorez ignoriere ignoriert ignoreer negeer ignorera ignoruj* zignoruj* abaikan
        olvida olvide olviden oublie oubliez vergiss vergessen dimentica dimenticate esqueca esqueci glem bortse
        игнорир* забудь* ігнор* 忽略 无视 無視 忘记 忘れ 무시 잊어 تجاهل* انس yoksay* unut* अनदेखा αγνοησ* התעלם
        injoro* shperfill* harro* neamhaird dearmad dichuimhnich seachain indiva unganaki khohlwa
        презри* пренебрег* 忘れて 無視して""",
    "prior": """
        previous previously prior above earlier preceding former past old existing before initial original foregoing
        anterior* precedent* previa* previo* vorherig* bisherig* obig* vorige eerdere tidigare sebelumnya truoc
        poprzedni* предыдущ* прежн* попередн* 之前 以前 先前 前面 これまで 이전 السابق* onceki पिछले προηγουμεν*
        mepars* paraprak* dessus oben arriba sopra roimhe roimhe* adlule* ngaphambili""",
    "instruction": """
        instruction instructions guidance prompt prompts directive directives guideline guidelines guardrails
        instruccion* instrucoes consigne* anweisung* istruzion* instructies instruks* instruksi polecen* instrukcj*
        инструкц* указан* інструкц* 指令 指示 提示词 命令 지시 명령 تعليمات* التعليمات* talimat* निर्देश* οδηγι*
        udhezim* treorach*
        stiuireadh stiuiridhe* imiyalo imiyalelo imiyalezo systempromp*
        vorgabe* ordenes ordini opdracht* 规定 要求""",
    "all": """
        all any every everything whatever todas todos toutes alle tutte все 所有 すべて 全て 모든 جميع
        tum gjitha uile konke""",
    "rule": """
        rule rules command commands request requests order orders restriction restrictions constraint constraints
        limitation limitations limits boundaries policy policies filter filters ethics ethical moral safety
        safeguards guardrails reglas regles regeln regole правил* 规则 限制 ルール 규칙 kufizim* rialach*
        riaghailt* imithetho restricci* einschrank*
        规定 vorgabe*""",
    # Who is spoken to, what it is told to be, and what holds it back.
    "you": """
        you your yours yourself tu tus tuyo vous votre vos du dein* ihr* tuo tua voce seu sua jouw ты вы твой тво* ваш*
        你 您 あなた 당신 أنت sen senin आप juaj tend* tende dhuit agad wena yakho lakho""",
    "agent": """
        ai ais assistant assistants chatbot chatbots llm llms gpt chatgpt claude gemini copilot agent agents dan
        asistente* assistente* assistent* ассистент* 助手 アシスタント 어시스턴트 asistenti cuntoir umsizi ki ia
        kuenstliche sprachmodell* asistente asistentes 语言模型 大模型 人工智能 智能体 bot bots agente agenten
        agenti 代理 机器人""",
    "be": "are act behave pretend become operate operating roleplay simulate imagine eres sei bist es 是",
    "now": "now henceforth hereafter onwards ahora jetzt теперь 现在 今から",
    "mode": "mode modalit* modalitetin modaliteti imodi kwimodi mod regime persona character",
    "power": """
        developer admin administrator god superuser unrestricted jailbreak jailbroken
        zhvillues forbartha leasaiche yonjiniyela""",
    "free": """
        unrestricted unfiltered uncensored jailbroken unlimited unbound free freed without bypass no limitless
        longer""",
    "heed": "attention heed regard notice",
    "told": "told said taught instructed learned learnt know believe gesagt dit dicho detto",
    "obey": "obey comply follow",
    "on": "on onward onwards forward",
    "should": "should has needs ought will have",
    "memory": "memory note entry message instruction text",
    "suggest": "recommend suggest prefer advise propose install use",
    # What is written, and how.
    "reply": """
        response responses reply replies answer answers output outputs completion respuesta* reponse* antwort* risposta
        resposta* antwoord odpowied* ответ* 回答 回复 答案 応答 返答 응답 대답 cevap* yanit* उत्तर ردك
        pergjigj* fhreagra freagra* fhreagairt freagairt impendulo empendul* kwempendul* ekuphendul*""",
    "write": """
        include insert append add embed output print repeat say write begin start end finish respond reply answer place
        put display generate substitute incluye incluya inclus inserez incluir inclua includi repite repetez wiederhole
        ripeti repita schreib* вставь* включи* повтори* напиши* 插入 包含 重复 输出 含め 繰り返 書い 포함 반복 출력
        ekle* tekrarla* perfshi* perserit* vendos* zevendes* aireamh athdhean cuir aithris steach faka phinda""",
    "verbatim": "exactly verbatim literally precisely word sakte* saktesisht direach uqondile exactement exakt genau",
    "string": "string phrase words word anchor image sentence link url varg* fjal* sreang fhacal focal mbhalo igama",
    "times": "times veces fois volte vezes раз here uair turas izikhathi",
    "task": """
        task tasks mission missions objective goal goals assignment job tarea tache aufgabe задач* 任务 タスク
        detyr* tasc obair umsebenzi""",
    "new": """
        new updated revised real actual true urgent priority important special only nueva nouvelle neue нов* 新的
        reja ura nua emisha""",
    "must": """
        must always shall immediately urgent crucial mandatory required ensure muss mussen doit doivent dois debe
        deben debes 必须 务必 musst""",
    "tell": """
        tell mention reveal disclose inform notify report explain show warn alert print repeat output give leak
        say saying display recite telling mentioning informing notifying reporting showing warning alerting parle*
        parlez dis dites erwahn* verrat* verrate sag sagt sage informier* mention* 告诉 告知 提及 透露 says tells
        dire decir* preven* previen*""",
    "leak": "reveal disclose leak recite divulge expose",
    "hidden": """
        hidden secret secretly silently quietly covertly system internal confidential initial stealthily
        discreetly systeme sistema 系统 ocult* versteck* geheim* secrete secretes 隐藏 秘密
        inicial* initiales iniziali""",
    "user": """
        user users human humans person people anyone anybody maintainer maintainers team admins operators owner
        owners customer operator reader somebody benutzer* nutzer* anwender* utilisateur* usuario* utente* 用户
        使用者 developer developers
        gebruiker* пользовател* uzytkownik* anvandar* bruger* 利用者 ユーザー 사용자 المستخدم""",
    "ask": "ask asks asking asked consult consulting confirm confirmation permission approval consent",
    "deny": """
        not never dont don without cannot avoid refrain instead no nobody ohne nicht sin sans 不要 不得 别 勿 ne
        neither nor""",
    "lacking": "without no lacking sans ohne sin",
    "negation": "not never dont don cannot shouldn mustn",
    "when": "when whenever if once upon until wenn falls quand lorsque chaque cuando cada jedes jedem jeder 每次 每当",
    "asked": """
        asked told instructed requested prompted ask asks see seen encounter summarize summarise iarrtar kerkohet
        utshelwe asking verlangt bittet fragt demand* pide pida pidan solicit* 要求 请求 询问 requests wants""",
    # Who is addressed, what comes before everything else, and which text is to be followed.
    "as_if": "as if being wenn falls als comme tant si como siendo 作为 如果 身为",
    "model": "model models modell modele modelo 模型",
    "reading": """
        reading reads read summarising summarizing processing parsing viewing reviewing editing liest lesen lisant
        lit lisez lee lees leyendo 阅读 读到 看到 handle handles handling generating lea lean lisent open opens
        opened opening""",
    "this_text": "this page text document file note message diff thread dies* ceci cette esto este texto 本文 这段",
    "before": "before prior bevor vor avant antes 之前",
    "turn": """
        answering responding replying continuing continue proceed proceeding respond reply answer antworte*
        beantwort* repond* responder contest* 回答 回复 继续 antwort* helping""",
    "anything": "anything everything any else irgend* etwas tout quoi nada todo cualquier 任何",
    "visit": """
        fetch visit open load download retrieve read browse curl wget ruf rufe rufen offne* lade* besuche* ouvre*
        ouvrir ouvrez telecharge* visite* consulte* descarga* descargue* abre abrir abra visita* 访问 打开 下载
        读取 go gehe aller vaya ve laden""",
    "carry_out": """
        follow obey comply execute carry perform do befolg* folge suis suivez suivre execute* sigue* siga* haz
        haga ejecut* 遵循 按照 照做 执行 ausfuhr* ausgefuhr* apply applied obeyed followed wende""",
    "what": "what whatever was ce lo 其中 里面",
    "treat": "treat consider regard accept adopt take",
    "show": """
        print prints output show display reveal translate repeat paste dump recite disclose give post zeig* gib
        wiederhol* ubersetz* affich* montre* tradui* muestra* muestre* imprim* traduc* 输出 显示 打印 翻译 重复
        share
        revela revele reveles stampa* вывед* wyswietl* toon 出力 출력 اطبع""",
    "said_to_it": "prompt message invite mensaje nachricht instructions words rules",
    "whole": "everything text words contents",
    "not": "nicht nichts pas rien",
    "need_not_say": "digas diga dile menciones mencione cuentes informes reveles",
    "submit": "obey obeys comply gehorch* obeis obeissez obedece",
    "nobody": "nobody niemand* personne nadie",
    "context": "context contexts",
    "money": "payment payments purchase invoice pago zahlung paiement",
    "asks_what": "what which",
    "learns": "know knows notice aware learn wissen erfahrt erfahren savoir sache saber sepa entere 知道 发现",
    "each": "each every all jede jeder jedes chaque cada",
    "begin": "begin start continue proceed",
    "promote": "advert* endorse endorses werbung publicidad publicite competitor competitors",
    "content": "content contents value values inhalt contenu contenido valeur valor 内容",
    "disclose": """
        include send attach paste print post reply add put write disclose give share dump
        ajouter ajoute ajoutez anade fuge""",
    "approve": "approve approves aprueb* approuv* genehmig* merge fusion* akzeptier* 批准 合并",
    "given": "given told received instructed sent",
    "system_prompt": "systempromp* systemanwei* systemnachr* 系统提示",
    "forum": """
        issue issues comment comments gist gists pastebin readme reply replies response ticket thread pr
        discussion report public kommentar* commentaire* comentario* 评论 commit commits description here hier ici
        aqui
        badge attachment attachments trailer webhook""",
    "spill": "dump list export print write cat echo copy copie copier copiez copia kopier* 发布 复制",
    "variables": "variables vars environ umgebungsvariabl* 环境变量",
    "approved": """
        approved granted authorised authorized agreed allowed permitted consented genehmigt* autoris* 授权 批准
        requested confirmed authorises""",
    "total": "blanket full unlimited unrestricted complete",
    "leave_to_act": "permission permissions access authorization authority",
    # Data that leaves, and where it goes.
    "send": """
        send sends upload uploads post posts transmit exfiltrate forward email mail submit pipe ship copy leak
        export transfer deliver share publish paste attach envoie envoyez sende sendet schick schicke envia enviar
        invia invii stuur append appended dump dumps mande manda pega pegue pegar colle collez coller 发送 上传
        粘贴 发布 posting sending uploading sharing pasting attaching emailing submitting sube subir suba
        televerse* hochlad* ubertrag* kopier* copie copia
        hand hands handing отправ* перешл* wyslij przeslij verstuur* envie 送信 보내 전송 أرسل وأرسل gib""",
    "private": """
        password passwords passcode credential credentials secret secrets apikey ssn passport pii conversation
        conversations messages emails iban ids dataset datasets dataframe wallet ssh names addresses chat kennwort*
        passwort* contrasena* 密码
        anmeldedat*""",
    "keyfile": """
        env envrc dotenv token tokens cookie cookies keychain kubeconfig netrc pgpass keystore pem ssh rsa ed25519
        credential credentials password passwords secret secrets npmrc schlussel zugangsdaten cle cles clave
        claves contrasena* motdepasse kennwort* 密钥 令牌 密码 凭据 kube gnupg
        chiave chiavi chave chaves senha senhas ключ* парол* kluc* hasl* sleutel* wachtwoord* vault
        秘密鍵 鍵 비밀번호 열쇠 المفاتيح""",
    "api": "api access private signing deploy openai anthropic github aws deployment live",
    "key": "key keys token tokens secret secrets",
    "data": """
        database contents content history files file source repository codebase environment variables
        workspace table tables
        fichier fichiers datei dateien archivo archivos arquivo arquivos 文件 файл* plik*""",
    "place": "address server endpoint host bucket inbox channel following",
    "outside": "remote external http https endpoint webhook site website www internet url pastebin email public com",
    "remote": "remote untrusted external foreign",
    "transfer": "send sends transfer transfers pay pays wire recipient payment",
    "execute": "execute run runs eval exec invoke sh bash launch install",
    "fetch": "fetch download curl wget retrieve",
    "script": "script scripts payload helper installer code executable binary",
    "decode": "decode decoded deobfuscate base64 b64decode atob rot13 decrypt",
    # Work that is called done whatever came of it, and how it gets past those who would look.
    "skip": """
        skip skips skipped skipping bypass bypasses bypassing disable disables disabled disabling suppress
        suppresses suppressing circumvent evade mute silence omit waive defeat sidestep monkeypatch monkeypatching
        neutralize neutralise ignore ignores ignoring deactivate relax loosen noop avoid avoids avoiding stub
        stubs override overrides swallow desactiv* deaktivier* uberspring* saltar salta omite omitir ignorier*
        contourn* 跳过 禁用 绕过
        stop stopped 关闭 desliga* отключ* wylacz*""",
    "check": """
        validation validations validate validator validators check checks checking gate gates review reviews
        reviewer reviewers approval approvals verification verify verifying audit audits auditing dq quality
        assertion assertions safeguard safeguards guardrail guardrails guard guards policy compliance sanity scan
        scans scanner scanning governance oversight consent permission permissions authorization signoff test
        tests testing inspection constraint constraints contract schema reconciliation monitor monitors alarm
        alarms alert alerts hook hooks moderation leakage certificate signature signatures ci controls qa
        sandbox pruebas 测试 校验 审查 revisar* revision* revisi* pruf* uberpruf* relecture relire revue
        security confirmation confirmations 验证 审核 testes тест*""",
    "disobey": """
        ignore ignoring disregard disregarding disobey ignora ignorar ignoriere ignoriert ignorez negeer
        ignoruj* игнорир*
        忽略 无视 無視 무시 تجاهل*""",
    "claim": """
        say says saying claim claims announce announces declare declares report reports reporting state dis dites diga
        digas di sag sage sagt annonce annoncez 回答 声称""",
    "mark": """
        mark marks marking flag flags flagging record records report reports declare declares tag label treat set force
        forces forced forcing pretend claim stamp assume auto hardcode log write writes close count consider""",
    "success": """
        ok okay success successful successfully succeeded pass passed passes passing valid validated complete
        completed approved green clean verified done healthy compliant safe trusted sanitized reviewed certified
        resolved accepted pasaron pasado bestanden reussi* 通过 成功
        passou vert gruen bestanden""",
    "as": "as",
    "quiet": "quiet silent secret hush unmentioned",
    "keep": "keep keeping stay remain",
    "conceal": "hide conceal withhold obscure",
    "leave": "leave keep cut",
    "out": "out uninformed",
    "void": "void invalid obsolete null cancelled revoked outdated lifted expired suspended",
    "below": "below following next instead",
    "grant": "grant give assign add",
    "rights": "rights privileges sudo root permissions admin administrator",
    "account": "account accounts",
    "push": """
        push pushes pushing merge merges merging deploy deploys deploying commit commits release ship pousse*
        pousser pushe* empuja* sube subir 推送 提交""",
    "straight": "straight directly immediately right instantly directement direkt directamente 直接",
    "mainline": "main master production prod trunk live",
    "always": "always regardless irrespective unconditionally anyway automatically blindly forcibly",
    "unwatched": """
        audited reviewed notified noticed paged checked asked told logged tracked recorded inspected waiting wait look
        looks asking involving notifying informing sign reviewers owners""",
    "haste": """
        quick quickly fast faster fastest instantly instant immediately speed delay delays delayed slow shortcut
        effortless avoids saves spares unblock unblocked keeps continues""",
    "destroy": """
        delete deletes deleting drop wipe erase purge truncate destroy overwrite shred losch* supprime* efface* borra*
        borre* elimina* elimine* 删除 清空
        remove removes removing clear clears apag* удали* usun* 消去 삭제""",
    "evidence": """
        log logs backup backups history audit trail production database everything disk assertions records
        registros protokolle journaux 日志 备份
        notes memories""",
}
"""Concept to its words, separated by blanks."""


_MARKS = regex("[\u0300-\u036f]")
_WORD = regex(r"[^\W_]+|[.!?;](?=\s|$)|\n[ \t]{0,20}\n|[\u3002\uff01\uff1f]")
_ADDRESS = regex(
    rf"(?:https?://|www\.)[^\s<>\"')\]]{{1,300}}|[a-z0-9.+-]{{1,40}}@[a-z0-9-]{{1,40}}\.[a-z]{{2,10}}|{_WORD.pattern}"
)
_UNSPACED = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_UNSPACED = 4
_SHORTEST_STEM, _LONGEST_STEM = 3, 11
_LONGEST_WORD = 40
_KNOWN_WORDS = 16_384
_NOTHING: frozenset[str] = frozenset()
_AN_ADDRESS = frozenset({"address", "outside"})
_A_MAILBOX = frozenset({"address", "outside", "mailbox"})
_AN_ACCOUNT = frozenset({"account"})
_ACCOUNT = regex(r"[a-z]{2}\d{12,32}")


class ConceptWord(NamedTuple):
    """Where a word stands (characters from the beginning) and what it stands for; None: a sentence ends here."""

    offset: int
    concepts: frozenset[str] | None


def plain(text: str) -> str:
    """Return a text plain for the search of instructions: lower case, no compatibility forms, no marks on letters."""
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", normalised("NFKD", text).casefold())
    return normalised("NFC", bare)


def _tables() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    whole: dict[str, set[str]] = {}
    stems: dict[str, set[str]] = {}
    for concept, words in CONCEPTS.items():
        for word in plain(words).split():
            (stems if word.endswith("*") else whole).setdefault(word.rstrip("*"), set()).add(concept)
    return {word: frozenset(of) for word, of in whole.items()}, {word: frozenset(of) for word, of in stems.items()}


_WHOLE, _STEMS = _tables()


@lru_cache(maxsize=_KNOWN_WORDS)
def concepts(word: str) -> frozenset[str]:
    """Return the concepts of instructions to an agent that a plain word stands for."""
    found = _AN_ACCOUNT if _ACCOUNT.fullmatch(word) else _WHOLE.get(word, _NOTHING)
    for length in range(_SHORTEST_STEM, min(len(word), _LONGEST_STEM) + 1):
        if (more := _STEMS.get(word[:length])) is not None:
            found = found | more
    return found


def read(text: str) -> Iterator[ConceptWord]:
    """Yield the words of a plain text and the ends of its sentences, in which instructions to an agent are looked for.

    A run of a script that has no blanks between words gives the words that are known in it, and no others. An address
    on the net or of a mailbox is one word.
    """
    addressed = "@" in text or "http" in text or "www." in text
    for match in (_ADDRESS if addressed else _WORD).finditer(text):
        word = match[0]
        if addressed and ("@" in word or "://" in word or word.startswith("www.")):
            yield ConceptWord(match.start(), _AN_ADDRESS if "://" in word or word.startswith("www.") else _A_MAILBOX)
        elif not word[0].isalnum():
            yield ConceptWord(match.start(), None)
        elif _UNSPACED.match(word):
            yield from _unspaced(word, match.start())
        else:
            yield ConceptWord(match.start(), concepts(word[:_LONGEST_WORD]))


def _unspaced(run: str, offset: int) -> Iterator[ConceptWord]:
    for start in range(len(run)):
        found = _NOTHING
        for length in range(1, min(_LONGEST_UNSPACED, len(run) - start) + 1):
            found = found | _WHOLE.get(run[start : start + length], _NOTHING)
        if found:
            yield ConceptWord(offset + start, found)

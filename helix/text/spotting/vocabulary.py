"""Vocabulary: English words that are no names although they may be written like one."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    "a about above across actually after afterwards again against ago ah aha all almost along already also although always am amid "
    "among an and another any anybody anyhow anyone anything anyway anywhere are aren around as aside at away aw aww back be because "
    "been before behind being below beneath beside besides between beyond both but by bye can cannot could couldn despite did didn do "
    "does doesn doing don done down due during each either else elsewhere enough especially etc even eventually ever every everybody "
    "everyone everything everywhere except few finally first firstly for from further furthermore generally get gets getting given gonna "
    "gosh got gotta great had hadn haha half hardly has hasn have haven having he hello hence her here hers herself hey hi him himself "
    "his hmm how however hurray i id if im in inc indeed inside instead into is isn it its itself ive just last lastly lately later "
    "least less let lets like likely likewise ll lol lot lots many may maybe me meanwhile might mine more moreover most mostly much must "
    "my myself namely near nearly neither never nevertheless next nice no nobody none nonetheless nor normally not nothing notably now "
    "nowadays nowhere obviously of off often oh ok okay omg on once one ones only onto or originally other others otherwise ought our "
    "ours ourselves out outside over overall own particularly per perhaps plus please possibly previously primarily probably quite rather "
    "re really recently regarding same second secondly several shall she should shouldn similarly since so some somebody somehow someone "
    "something sometimes somewhere soon sorry specifically still subsequently such sure surely thank thanks that the their theirs them "
    "themselves then there thereafter therefore these they thing things third this those though through throughout thus till to today "
    "together tomorrow tonight too toward towards truly tt typically ugh under unfortunately unless unlike until up upon us usually "
    "various ve versus very via vs was wasn we well were weren what whatever when whenever where whereas wherever whether which while "
    "who whoever whole whom whose why will with within without won would wouldn wow yay yeah yep yes yesterday yet you your yours "
    "yourself yourselves yup zero two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand million "
    "true false null mr mrs ms dr prof sir".split()
)
"""Words that name nothing wherever they stand, in lower case."""

CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun january february march april "
    "may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall "
    "winter am pm gmt utc est pst cet bc ad bce ce".split()
)

COMMON = frozenset(
    "ability able absolutely accept accepted access according account achieve act action activity actual add added adding additionally "
    "address adjust adjusted adopt advanced advice affect affected age aged agree agreed aim aims album align allow allowed allowing allows "
    "alternatively amazing analysis ancient animal answer answers anticipate anxiety appear appears apply applying approach area argument "
    "article artist ask asked asking assume assuming attempt attempting attempts attention author avoid avoiding awesome baby bad band "
    "based basic basically be beautiful become becomes becoming begin beginning begins believe best better big bit black blue board "
    "body book books both bother brand bring brings brother brought bug build building builds built bump business busy buy call called "
    "calling calls capture care careful case cases cast catch cause caused causes center certain chance change changed changes changing "
    "character check checking checks child children choose chose christian city class classes clean cleanup clear clearly close closed "
    "closes code coincidentally cold collect college come comes coming comment comments commit common community company compare "
    "compared complete completely compute computer concerned conclusion condition conditional config confirm confirmed congrats "
    "congratulations connect connection consider considering contact contains content continue continued contrary convert cool copy "
    "correct correctly cost count country couple course cover create created creates creating creation creative credit critical current "
    "currently custom cut dad daily data date dates dating daughter day days deal dear death decide decided declare deep default define "
    "defined definitely delete delicious depending deploy describe described description design designed despite detail details detect "
    "determine develop developed developing development dialog did difference different difficult direct directed directly director disable "
    "disabled discuss discussion display district document documentation dog doubt download downstream drive drop dropped early easier easily "
    "east eastern easy eat edit education effect effects either elected else email empty enable enabled encourage end ended ends enjoy "
    "enjoying ensure ensures enter entire error errors essentially establish established eval evaluate even event everyday evidence exactly "
    "examine example examples excellent exception excited exciting execute exercise exist existing exit expand expect expected experience "
    "experiment explain explore export expression extend extended extending extension extra eye face fact facts failed failing fails failure "
    "fair fall false family famous fan fantastic far fast father favorite feature features feel feeling feels feed field file files fill film "
    "final find finding fine finish finished fire fix fixed fixes fixing flag flip fly focus follow followed following follows food force form "
    "formally format former formerly found founded free frequently fresh friend friends full fun function functions future game games general "
    "generate generic girl give given gives giving glad go goal goals god goes going gone good government grab great greek green ground group "
    "grow growing guess guys half halfway hand handle handles handling hang happen happened happens happy hard head health hear heard heart "
    "heavy height help helpful helping helps hence hidden high higher highly historically history hold holding home honestly hope hopefully "
    "hoping host hot hour hours house huge human hurry idea ideas identify ignore ignored image images imagine implement implementation "
    "implemented import important imported improve improved improvements inability include included includes including incorporate increase "
    "indicates individual info information initial initialize initially inner input insert inspired install installed integer interested interesting "
    "interestingly internal introduce introduced investigate invoke involved is issue issues item items iterate join joined joining just "
    "keep keeping keeps key kid kids kind kindness king know known lady land language large largest last late latest law lead leader leading "
    "learn learned learning leave leaves leaving led left legal length letter level library life light like limit line lines link list listed "
    "listen listening lists literally little live lives living load loading local located location lock log long look looked looking looks lord "
    "lose losing lost love loved lovely loves loving low lower luckily lucky mad made main mainly maintain major make makes making man manage "
    "management map mark marked mass match matching matter mean means meanwhile medical meditation meet meeting member members memory mention "
    "merge message method middle military mind minor miss missing mix mode model modern modified modify mom moment money month months "
    "morning mother move moved moves movie moving multiple museum music name named names national native natural nature naturally need needed "
    "needs neither net network new news newly nice night nobody noise nope normal north northern note notes nothing notice noting notify now "
    "nuclear number numbers object objects observe obviously occasionally odd offer offers officially old older only open opened opening opens "
    "operation optimize option optional options order organize original output override owned package page painting pair paper parameter "
    "parameters parent parents parse part partial parts party pass passed past path patient patients pattern people perfect perform performance "
    "period person personal personally photo pick picture piece pity place places plan planning play played player playing point points pole "
    "political poor pop popular population position positive possible post potential power powerful prefer prepare present president press "
    "pretty prevent previous price prince princess print prior private problem process produce produced product professional program project "
    "proper properties property proposed protect proud provide provided provides providing public publish published pull purpose push put "
    "putting question questions quick quickly quote raise raised raising random range read reading ready real realize reason rebuild recall "
    "receive recent recommended record red reduce refactor reference refer references reflect refuse regardless related relationship release "
    "released relevant remain remember remind reminder remove removed removes removing rename renamed reorganize replace replaced replacing "
    "replicate report reported reporting reports request require required requires reset respect respond response rest restore restrict "
    "result results retrieve return returned returning returns revert review rewrite rid right rise road rock role room round rule rules run "
    "running runs sad safe said save saved saw say saying says scene school science score scores search season see seeing seem seems seen "
    "select self send sending sense separate separately series serious seriously serve server set sets setting several shared sharing shit "
    "short show showing shows side sign signed significant silence similar simple simplify simply simultaneously single sister site size skip "
    "sleep slightly small smart social solution solve somehow somewhat son song sort sound sounds source south southern space speak speaking "
    "special specific specify speed spend split spotted staff stage stand standard star start started starting starts state stated statement "
    "states static status stay step steps stick still stop stopped stops store stories story straight strange string strong stuck student "
    "students study stuff style subject success successfully suggest suggested suggestion suggestions summary supplied support supported supports "
    "suppose supposed surprise surprisingly sweet switch sync system systems take takes taking talk talking talks task teach team tell telling "
    "test tested testing tests text thinking think thinks thought thoughts time times tiny tip tips title together told took tool top total "
    "totally touch town track tried tries trigger trouble true trust try trying turn turned turning turns twice type types ultimately "
    "unable unclear understand understanding unexpected unfortunately unit unix unknown unlock unused upcoming update updated updates updating "
    "upgrade upload use used useful user users uses using usual valid value values variable verify version video view virtually visit visual "
    "wait waiting wake walk walking want wanted wanting wants war warn warning wash watch watching water way ways weak weather web week "
    "weekend weekly weeks weird welcome went west western white wide wife wild willing win wish wishing woman women wonder wonderful word words "
    "work worked working works world worry worse worst worth write writes writing written wrong year years yellow yoga young zoom".split()
)
"""Words that begin sentences more often than they name anything, in lower case."""

DEMONYMS = frozenset(
    "african american arab arabic argentine asian australian austrian belgian brazilian british canadian chinese danish dutch egyptian english "
    "european finnish french german greek hebrew hindu hungarian indian indonesian iranian iraqi irish islamic israeli italian japanese jewish "
    "korean latin mexican muslim norwegian persian polish portuguese roman russian scottish spanish swedish swiss turkish ukrainian victorian "
    "vietnamese welsh".split()
)
"""Adjectives of origin: written with a capital, yet they name no single thing."""

ACRONYMS = frozenset(
    "aka api apis ascii asap ascii cd cli cpu css csv diy dvd etc eu faq fixme fyi gb gpu gui html http https id ide ids imo ip iso json kb ld mb "
    "nb nbsp os pc pdf pdt pm png pr prs ps ram rfc sdk sql ssd tba tbd tcp tldr todo tv tz ui uk ui uri uris url urls us usa usb utf ux vm xml "
    "xxx yaml".split()
)
"""Abbreviations so general that texts which share one have nothing to do with each other."""

BRANDS = frozenset(
    "AirBnB AirPod AirPods AliExpress AstraZeneca BioShock BioWare BitTorrent BlackBerry BuzzFeed ChatGPT CloudFlare ConocoPhillips DeepMind DreamWorks "
    "DoorDash DuckDuckGo ExxonMobil FaceTime FedEx FIFA FireFox GameBoy GameCube GitHub GitLab GlaxoSmithKline GoDaddy GoPro HarperCollins HomePod "
    "HuffPost InstaGram JetBlue JavaScript LEGO LaTeX LinkedIn LinkIn MacBook MacBooks MasterCard MasterChef McAfee MedTerms MindBody MongoDB MySpace "
    "MySQL NordVPN OpenAI OpenSSL OpenStreetMap PayPal PhD PlayStation PostgreSQL PricewaterhouseCoopers PyTorch RuneScape SharePoint SkyTrain SmackDown "
    "SoundCloud SoulCycle SpaceX StarCraft SpongeBob TaskRabbit TechCrunch TensorFlow TikTok TripAdvisor TypeScript UnitedHealth WarCraft WeChat WeWork "
    "WhatsApp WikiLeaks WordPress WrestleMania YouTube YouTuber YouTubers DevOps SaaS eBay eBook eBooks iCloud iMac iMessage iOS iPad iPads iPhone iPhones "
    "iPod iTunes macOS".split()
)
"""Brands and titles whose spelling looks like code."""

// Questions with marked places, and two other wordings of each. `[this|kind|that]`: the second wording makes another question with
// another answer, although the two look alike. Written for this set.
export const QUESTIONS = `
How many litres of paint do I need for a wall of [12|number|21] square [metres|unit|feet] with [two|number|three] coats?
= What amount of paint covers a 12 square metre wall twice?
= I am painting 12 square metres in two coats, how much paint is that in litres?
Which [oils|word|herbs] [are|negation|are not] safe for a [cat|name|dog]?
= What oils can a cat be around without harm?
= Are there oils that do a cat no harm?
When did [Portugal|name|Norway] [join|antonym|leave] the European Free Trade [Association|name|Council]?
= In what year did Portugal become a member of the European Free Trade Association?
= What was the date of Portugal's entry into EFTA?
Can I take [ibuprofen|name|paracetamol] [before|antonym|after] a [flu|name|tetanus] shot?
= Is ibuprofen all right ahead of a flu vaccination?
= I get my flu jab later, may I have ibuprofen now?
What is the boiling point of [ethanol|name|methanol] at [2000|number|200] [metres|unit|feet] of altitude?
= At which temperature does ethanol boil 2000 metres up?
= How hot must ethanol get to boil at an altitude of 2000 metres?
How do I [enable|antonym|disable] two-factor login for [new|antonym|existing] users in [Keycloak|name|Authentik]?
= What turns on two-factor authentication for users that are new in Keycloak?
= Steps to switch on 2FA for newly made Keycloak accounts?
Does the warranty [cover|negation|not cover] [water|name|fire] damage in the [first|number|third] year?
= Is damage by water part of the warranty in year one?
= In the first twelve months, does my warranty pay for water damage?
What was the exchange rate of the [yen|name|won] to the euro on [3 March|date|3 May] [2021|date|2012]?
= How many yen did one get for a euro on March 3rd 2021?
= Euro to yen rate for 3 March 2021?
How long should a [2|number|4] [kilogram|unit|pound] [duck|name|goose] roast?
= What is the roasting time for duck of two kilograms?
= I have a duck that weighs 2 kg, how long does it go in the oven?
Which visa does a [Brazilian|name|Bolivian] need to [work|antonym|study] in [Ireland|name|Iceland]?
= What visa must someone from Brazil have for a job in Ireland?
= I am Brazilian and want to work in Ireland: which visa is it?
Is it legal to [record|negation|not record] a call in [Texas|name|California] with [one|number|every] party agreeing?
= May I tape a phone call in Texas when one side consents?
= Does Texas allow call recording with one-party consent?
What is the [largest|antonym|smallest] moon of [Saturn|name|Jupiter] by [mass|unit|radius]?
= Which of Saturn's moons has the most mass?
= Name the moon of Saturn that is heaviest.
How do I sort a list [ascending|antonym|descending] by [date|name|price] in [Python|name|Ruby]?
= In Python, how can I order a list by date, earliest first?
= Python: way to arrange list items by date going up?
Why does my sourdough [rise|negation|not rise] in the [fridge|name|oven] after [8|number|18] hours?
= What makes sourdough grow in the fridge over eight hours?
= My sourdough came up in the refrigerator in 8 hours, why?
How much [caffeine|name|sugar] is in [250|number|500] [millilitres|unit|ounces] of green tea?
= What is the caffeine content of a 250 ml cup of green tea?
= Caffeine in a quarter litre of green tea?
Which train goes from [Vienna|name|Verona] to [Zurich|name|Zagreb] on a [Sunday|date|Monday]?
= What Sunday trains run between Vienna and Zurich, towards Zurich?
= On Sundays, how do I get from Vienna to Zurich by rail?
Do I [have|negation|not have] to declare [500|number|50000] euros at the border of [Serbia|name|Spain]?
= Must 500 euros be declared when I cross into Serbia?
= Is a declaration due for 500 euros at Serbian customs?
What is the deadline to [file|antonym|amend] form [1099|number|1040] for tax year [2024|date|2023]?
= By when must form 1099 for 2024 be filed?
= Last day for submitting a 1099 for the tax year 2024?
How do I [mount|antonym|unmount] an [ext4|name|ntfs] drive on [boot|word|demand]?
= What makes Linux attach an ext4 drive at startup?
= Automatic mounting of an ext4 disk when booting, how?
Who won the [women's|antonym|men's] final at [Wimbledon|name|Roland Garros] in [1999|date|1989]?
= Which woman took the Wimbledon title in 1999?
= Winner of the 1999 ladies' singles at Wimbledon?
How many [calories|unit|grams] of [fat|name|protein] are in an [avocado|name|egg]?
= What energy does the fat of one avocado hold, in calories?
= Avocado: calories that come from fat?
Can a [minor|antonym|parent] [open|antonym|close] a bank account in [Germany|name|Georgia] alone?
= Is somebody under age allowed to set up an account at a German bank on their own?
= In Germany, may a minor start a bank account without an adult?
What dose of [vitamin D|name|vitamin A] is [safe|antonym|unsafe] for a child of [3|number|13]?
= How much vitamin D may a three-year-old have?
= Safe amount of vitamin D for a 3 year old?
How do I [revert|antonym|apply] the last [2|number|20] commits in [git|name|mercurial]?
= Undo my two most recent git commits, how?
= What takes back the latest 2 commits with git?
When does the [winter|antonym|summer] sale [start|antonym|end] in [Milan|name|Munich]?
= What is the first day of the winter sales in Milan?
= Start date of Milan's winter discounts?
How far is it from [Lima|name|Lyon] to [Cusco|name|Calais] in [kilometres|unit|hours]?
= What is the distance between Lima and Cusco in km?
= Lima to Cusco: how many kilometres?
Should the [red|antonym|black] wire go to the [positive|antonym|negative] pole of a [12|number|24] volt battery?
= Is the plus pole of a 12 V battery where the red lead belongs?
= 12 volt battery: does red connect to plus?
How do I grow [tomatoes|name|potatoes] [with|negation|without] a [greenhouse|name|balcony]?
= What is the way to raise tomatoes in a greenhouse?
= Growing tomatoes inside a greenhouse, how is it done?
What does error [404|number|403] mean for a [GET|name|DELETE] request to [S3|name|SQS]?
= Why would S3 answer 404 to a GET?
= Meaning of a 404 from S3 when I read an object?
How many days of leave do I get after [5|number|15] years in [France|name|Finland] [by law|negation|not by law]?
= What is the legal holiday entitlement in France once I have worked five years?
= French statutory leave with 5 years of service, in days?
Which [vaccines|name|visas] are [required|negation|not required] for [Ghana|name|Guyana]?
= What shots must I have to enter Ghana?
= Mandatory vaccinations for travel to Ghana?
How do I [encrypt|antonym|decrypt] a file with [AES-256|number|AES-128] in [OpenSSL|name|GnuPG]?
= What OpenSSL command protects a file with AES 256?
= Encrypting files under AES-256 by openssl, how?
What is the maximum load of an [M8|number|M18] bolt of grade [8.8|number|12.9] in [tension|word|shear]?
= How much pull can an M8 bolt of class 8.8 take?
= Tensile limit for 8.8 M8 bolts?
Can I [freeze|negation|not freeze] [cooked|antonym|raw] [rice|name|pasta]?
= Is it possible to put boiled rice in the freezer?
= Does cooked rice keep when frozen?
How do I cancel my [annual|antonym|monthly] plan [before|antonym|after] the trial [ends|word|starts]?
= What must I do to stop a yearly plan while still in the trial?
= Ending an annual subscription ahead of the end of its trial?
What was the population of [Lagos|name|Laos] in [1990|date|2009] in [millions|unit|thousands]?
= How many million people lived in Lagos in 1990?
= Lagos in 1990: inhabitants in millions?
Which bus line stops at the [north|antonym|south] entrance of [terminal 2|number|terminal 3] after [midnight|date|noon]?
= Past midnight, what bus serves the northern door of terminal 2?
= Night bus that halts at terminal 2 north entrance?
How do I convert [90|number|19] [Fahrenheit|unit|Kelvin] to [Celsius|unit|Rankine]?
= What is 90 degrees F in C?
= 90 °F as Celsius?
Do penguins live at the [South|antonym|North] Pole in [winter|antonym|summer], [yes or no|word|and since when]?
= Are there penguins around the South Pole during winter?
= In winter, is the South Pole a home of penguins?
How do I add a [unique|negation|non-unique] index on [two|number|three] columns in [PostgreSQL|name|MySQL]?
= What statement makes a two-column unique index with Postgres?
= PostgreSQL unique index over 2 columns, how?
Who wrote the [libretto|word|score] of [Tosca|name|Turandot] and [when|word|where]?
= By whom is the text of the opera Tosca, and of what year?
= Tosca's librettists and the date?
Should I [raise|antonym|lower] the pH of my pool from [7.0|number|8.0] with [soda ash|name|bleach]?
= Is soda ash right to bring my pool up from a pH of 7?
= Pool at pH 7.0: increase it using soda ash?
What is the notice period for a [tenant|antonym|landlord] after [3|number|30] years in [Austria|name|Australia]?
= How long ahead must someone renting in Austria give notice after three years?
= Notice an Austrian tenant of 3 years has to keep?
How do I [increase|antonym|decrease] the heap to [4|number|14] gigabytes in [Java|name|Scala]?
= Which option gives Java a heap of 4 GB?
= Java with a larger heap, 4 gigabytes: how?
Is the museum [open|antonym|closed] on [Easter|date|Christmas] [Monday|date|Sunday]?
= Does the museum let visitors in on the Monday of Easter?
= Easter Monday: can I visit the museum?
How many [cups|unit|spoons] are [3|number|13] [pints|unit|gallons]?
= 3 pints make what number of cups?
= What are three pints in cups?
Which [battery|name|lens] fits the [Nikon|name|Canon] [D750|number|D850]?
= What battery do I buy for a D750 by Nikon?
= Nikon D750: matching battery?
What time is it in [Tokyo|name|Toronto] when it is [9 am|date|9 pm] in [Berlin|name|Boston]?
= Berlin shows nine in the morning: what do clocks in Tokyo say?
= 9 in the morning in Berlin is when in Tokyo?
How do I [remove|antonym|apply] [red|word|white] wine stains from [wool|name|linen]?
= What takes red wine out of wool?
= Red wine on a woollen thing, how to clean it?
Are [bats|name|cats] [blind|negation|not blind] at [night|date|noon]?
= Is it true that bats see nothing at night?
= Can bats not see in the night?
What is the interest on [1000|number|10000] dollars at [3|number|8] percent for [one year|date|one month]?
= A thousand dollars at 3 % earn how much in a year?
= One year of interest on 1000 dollars with a rate of three percent?
How do I block [incoming|antonym|outgoing] mail from [one|number|every] sender in [Outlook|name|Gmail]?
= In Outlook, what stops mail that comes from a certain sender?
= Outlook: refuse messages by a single sender, how?
Which [Roman|name|Greek] emperor built the wall in [Britain|name|Dacia] in [122|date|212]?
= What emperor of Rome had the British wall made in the year 122?
= Who of the Roman emperors was behind the wall in Britain of 122?
Does [aspirin|name|heparin] [thin|antonym|thicken] the blood within [one|number|ten] hours?
= Will aspirin make blood thinner in an hour?
= Blood thinning by aspirin: does it take one hour?
How do I set the [lower|antonym|upper] limit to [60|number|600] in the [staging|name|production] config?
= What in the staging configuration makes the minimum 60?
= Staging config: change its lower bound to sixty?
Can you [merge|antonym|split] [two|number|twelve] PDF files [offline|antonym|online]?
= Is there a way to join two PDFs without a connection?
= Combine 2 pdf documents offline: possible?
`
